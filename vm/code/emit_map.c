/* SPDX-License-Identifier: Apache-2.0 */
/* The translation of operations on maps. Keys that are known come in the order in which small maps have them; those of
 * a map made of nothing are a literal, which all such maps share.
 * Invariant: the instance's literals are those made here until module.c adds the file's. */
#include "code/emit.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "data/compare.h"
#include "data/map.h"
#include "heap/literal.h"

/* Pairs of a list whose first items are map keys, in the order of flat maps when all keys are immediate: then one walk
 * finds them all. */
struct key_place {
	Term key;
	uint32_t at; /* in the list */
};

static int compare_places(const void *a, const void *b)
{
	const struct key_place *x = a, *y = b;
	int order = term_compare_exact(x->key, y->key);

	return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

/* Returns whether they are sorted. Owns: the caller gets *places, one a pair (mem_free). */
static bool sort_keys(const struct operand *list, struct key_place **places)
{
	uint32_t n = list->count / 2;
	bool immediate = true;

	*places = mem_alloc(n * sizeof(**places));
	for (uint32_t i = 0; i < n; i++) {
		(*places)[i] = (struct key_place){ list->items[2 * i].term, 2 * i };
		immediate &= operand_is_immed(&list->items[2 * i]);
	}
	if (immediate)
		qsort(*places, n, sizeof(**places), compare_places);
	return immediate;
}

static bool has_keys(const Term *keys, const struct key_place *places, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (keys[i] != places[i].key)
			return false;
	return true;
}

enum { SHARE_LOOKS = 256 }; /* so that a module of very many kinds of maps loads as fast as others */

/* The tuple of those keys among the literals made last: maps of the same keys share it. TERM_NONE: there is no room for
 * more literals. */
static Term share_keys(struct emitter *em, const struct operand *list, const struct key_place *places)
{
	uint32_t n = list->count / 2, looks = 0;
	struct literal_area *a = em->c->literal_area;

	for (; a != NULL && looks < SHARE_LOOKS; a = a->next, looks++)
		if (a->words[0] == HEADER(n, SUB_TUPLE) && has_keys(a->words + 1, places, n))
			return term_from_boxed(a->words);
	a = literal_new(n + 1);
	if (a == NULL)
		return TERM_NONE;
	*a->top++ = HEADER(n, SUB_TUPLE);
	for (uint32_t i = 0; i < n; i++)
		*a->top++ = places[i].key;
	a->next = em->c->literal_area;
	em->c->literal_area = a;
	return term_from_boxed(a->words);
}

/* A small map made of nothing, its keys known and each once, in order. */
static bool makes_small_map(const struct genop *g, const struct key_place *places, uint32_t n)
{
	const struct operand *map = &g->args[1];

	if (g->op != GENOP_put_map_assoc || n > MAP_FLAT_MAX || map->kind != OPND_CONST || !term_is_map(map->term) ||
	    map_size(map->term) != 0)
		return false;
	for (uint32_t i = 1; i < n; i++)
		if (places[i].key == places[i - 1].key)
			return false;
	return true;
}

static bool emit_put_small_map(struct emitter *em, const struct genop *g, const struct key_place *places)
{
	const struct operand *list = &g->args[4];
	uint32_t n = list->count / 2;
	Term keys = makes_small_map(g, places, n) ? share_keys(em, list, places) : TERM_NONE;

	if (keys == TERM_NONE)
		return false;
	emit_instr(em, OP_put_small_map,
		   (struct operand[]){ g->args[2], g->args[3], operand_u(n), operand_const(keys) });
	for (uint32_t i = 0; i < n; i++)
		emit_source(em, &list->items[places[i].at + 1]);
	return true;
}

size_t emit_put_map(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *list = &g->args[4];
	struct operand args[] = { g->args[0], g->args[1], g->args[2], g->args[3], operand_u(list->count) };
	struct key_place *places;

	(void)count;
	if (sort_keys(list, &places) && emit_put_small_map(em, g, places)) {
		mem_free(places);
		return 1;
	}
	emit_instr(em, g->op == GENOP_put_map_assoc ? OP_put_map_assoc : OP_put_map_exact, args);
	for (uint32_t i = 0; i < list->count / 2; i++) {
		emit_source(em, &list->items[places[i].at]);
		emit_source(em, &list->items[places[i].at + 1]);
	}
	mem_free(places);
	return 1;
}

size_t emit_has_map_fields(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *list = &g->args[2];

	(void)count;
	emit_instr(em, OP_has_map_fields, (struct operand[]){ g->args[0], g->args[1], operand_u(list->count) });
	for (uint32_t i = 0; i < list->count; i++)
		emit_source(em, &list->items[i]);
	return 1;
}

size_t emit_get_map_elements(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *list = &g->args[2];
	struct operand args[] = { g->args[0], g->args[1], operand_u(list->count / 2 * MAP_ELEMENT_WORDS) };
	struct key_place *places;
	bool sorted;

	(void)count;
	if (list->count == 2 && operand_is_reg(&g->args[1]) && operand_is_immed(&list->items[0])) {
		emit_instr(em, OP_get_map_element_rk,
			   (struct operand[]){ g->args[0], g->args[1], list->items[0], list->items[1] });
		return 1;
	}
	sorted = sort_keys(list, &places);
	emit_instr(em, sorted && operand_is_reg(&g->args[1]) ? OP_get_map_elements_rk : OP_get_map_elements, args);
	for (uint32_t i = 0; i < list->count / 2; i++) {
		const struct operand *key = &list->items[places[i].at];

		emit_source(em, key);
		emit_word(em, key->kind == OPND_CONST ? map_hash(key->term) : 0);
		emit_word(em, emit_encode_reg(key + 1));
	}
	mem_free(places);
	return 1;
}
