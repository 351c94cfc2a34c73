/* SPDX-License-Identifier: Apache-2.0 */
/* Maps. An iterator of a large map has its pairs gathered, so that it can go both ways. */
#include "base/alloc.h"
#include "data/map.h"
#include "nif/nif_env.h"

int enif_get_map_size(struct nif_env *env, Term map, size_t *size)
{
	(void)env;
	if (!term_is_map(map))
		return 0;
	*size = map_size(map);
	return 1;
}

Term enif_make_new_map(struct nif_env *env)
{
	return map_new(env->heap);
}

int enif_make_map_put(struct nif_env *env, Term map, Term key, Term value, Term *to)
{
	if (!term_is_map(map))
		return 0;
	*to = map_put(env->heap, map, key, value);
	return 1;
}

int enif_get_map_value(struct nif_env *env, Term map, Term key, Term *value)
{
	Term found = term_is_map(map) ? map_get(map, key) : TERM_NONE;

	(void)env;
	if (found == TERM_NONE)
		return 0;
	*value = found;
	return 1;
}

int enif_make_map_update(struct nif_env *env, Term map, Term key, Term value, Term *to)
{
	Term updated = term_is_map(map) ? map_update(env->heap, map, key, value) : TERM_NONE;

	if (updated == TERM_NONE)
		return 0;
	*to = updated;
	return 1;
}

int enif_make_map_remove(struct nif_env *env, Term map, Term key, Term *to)
{
	if (!term_is_map(map))
		return 0;
	*to = map_remove(env->heap, map, key, NULL);
	return 1;
}

/* Fails: no two keys may be equal. */
int enif_make_map_from_arrays(struct nif_env *env, Term *keys, Term *values, size_t n, Term *to)
{
	Term *pairs = mem_alloc(2 * n * sizeof(Term) + 1), map;

	for (size_t i = 0; i < n; i++) {
		pairs[2 * i] = keys[i];
		pairs[2 * i + 1] = values[i];
	}
	map = map_from_unique_pairs(env->heap, pairs, n);
	mem_free(pairs);
	if (map == TERM_NONE)
		return 0;
	*to = map;
	return 1;
}

/* ---- iterators */

static void gather(struct nif_map_iterator *it)
{
	Term *pairs = mem_alloc(2 * it->size * sizeof(Term));
	struct map_iter from;

	it->pairs = pairs;
	it->keys = pairs;
	it->values = pairs + it->size;
	map_iter_init(&from, it->map);
	for (size_t i = 0; map_iter_next(&from, &it->keys[i], &it->values[i]);)
		i++;
}

int enif_map_iterator_create(struct nif_env *env, Term map, struct nif_map_iterator *it, int entry)
{
	(void)env;
	if (!term_is_map(map) || (entry != NIF_MAP_FIRST && entry != NIF_MAP_LAST))
		return 0;
	*it = (struct nif_map_iterator){ .map = map, .size = map_size(map) };
	if (map_is_flat(map)) {
		struct flatmap *f = (struct flatmap *)boxed_ptr(map);

		it->keys = boxed_ptr(f->keys) + 1;
		it->values = f->values;
	} else {
		gather(it);
	}
	it->index = entry == NIF_MAP_FIRST ? 1 : it->size;
	return 1;
}

void enif_map_iterator_destroy(struct nif_env *env, struct nif_map_iterator *it)
{
	(void)env;
	mem_free(it->pairs);
	it->pairs = NULL;
}

int enif_map_iterator_is_head(struct nif_env *env, struct nif_map_iterator *it)
{
	(void)env;
	return it->index == 0;
}

int enif_map_iterator_is_tail(struct nif_env *env, struct nif_map_iterator *it)
{
	(void)env;
	return it->index > it->size;
}

static int is_at_pair(const struct nif_map_iterator *it)
{
	return it->index >= 1 && it->index <= it->size;
}

int enif_map_iterator_next(struct nif_env *env, struct nif_map_iterator *it)
{
	(void)env;
	if (it->index <= it->size)
		it->index++;
	return is_at_pair(it);
}

int enif_map_iterator_prev(struct nif_env *env, struct nif_map_iterator *it)
{
	(void)env;
	if (it->index > 0)
		it->index--;
	return is_at_pair(it);
}

int enif_map_iterator_get_pair(struct nif_env *env, struct nif_map_iterator *it, Term *key, Term *value)
{
	(void)env;
	if (!is_at_pair(it))
		return 0;
	*key = it->keys[it->index - 1];
	*value = it->values[it->index - 1];
	return 1;
}
