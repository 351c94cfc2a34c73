/* SPDX-License-Identifier: Apache-2.0 */
/* What threads keep under keys of libraries. The system has keys for a thousand, libraries may want more.
 * Invariants: a key's generation is odd while it is in use, and rises with each change; what a thread keeps counts only
 * as long as the key has the generation that it was set in. Keys never move. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/library_lock.h"
#include "base/log.h"

enum { KEYS_A_CHUNK = 1024, CHUNKS = 64, NO_KEY = -1 };

struct key {
	atomic_uint generation;
	int next_free;
};

static struct {
	pthread_mutex_t lock;
	int count, first_free; /* lock; free ones are linked */
	_Atomic(struct key *) chunks[CHUNKS];
	pthread_once_t once;
	pthread_key_t values;  /* of the thread, freed when it ends */
} keys = { .lock = PTHREAD_MUTEX_INITIALIZER, .first_free = NO_KEY, .once = PTHREAD_ONCE_INIT };

struct values {
	size_t room;
	struct value {
		unsigned generation;
		void *data;
	} at[];
};

static void make_values_key(void)
{
	ENSURE(pthread_key_create(&keys.values, mem_free) == 0);
}

static struct key *key_at(int number)
{
	bool exists = number >= 0 && number < KEYS_A_CHUNK * CHUNKS;
	struct key *chunk = exists ? atomic_load(&keys.chunks[number / KEYS_A_CHUNK]) : NULL;

	return chunk != NULL ? &chunk[number % KEYS_A_CHUNK] : NULL;
}

/* A number that was never used. Lock held. */
static int add_key(void)
{
	int number = keys.count;
	_Atomic(struct key *) *chunk;

	if (number == KEYS_A_CHUNK * CHUNKS)
		return NO_KEY;
	chunk = &keys.chunks[number / KEYS_A_CHUNK];
	if (atomic_load(chunk) == NULL)
		atomic_store(chunk, mem_zalloc(KEYS_A_CHUNK * sizeof(struct key)));
	keys.count++;
	return number;
}

int library_key_new(int *key)
{
	int number;

	pthread_once(&keys.once, make_values_key);
	pthread_mutex_lock(&keys.lock);
	number = keys.first_free;
	if (number != NO_KEY)
		keys.first_free = key_at(number)->next_free;
	else
		number = add_key();
	if (number != NO_KEY)
		atomic_fetch_add(&key_at(number)->generation, 1);
	pthread_mutex_unlock(&keys.lock);
	if (number == NO_KEY)
		return EAGAIN;
	*key = number;
	return 0;
}

void library_key_free(int number)
{
	struct key *key = key_at(number);

	pthread_mutex_lock(&keys.lock);
	if (key != NULL && atomic_load(&key->generation) % 2 == 1) {
		atomic_fetch_add(&key->generation, 1);
		key->next_free = keys.first_free;
		keys.first_free = number;
	}
	pthread_mutex_unlock(&keys.lock);
}

static struct values *values_with(int number)
{
	struct values *v = pthread_getspecific(keys.values);
	size_t had = v != NULL ? v->room : 0, room = ((size_t)number + 1) * 2;

	if ((size_t)number < had)
		return v;
	v = mem_realloc(v, sizeof(*v) + room * sizeof(v->at[0]));
	memset(&v->at[had], 0, (room - had) * sizeof(v->at[0]));
	v->room = room;
	pthread_setspecific(keys.values, v);
	return v;
}

void library_key_set(int number, void *data)
{
	const struct key *key = key_at(number);
	unsigned generation = key != NULL ? atomic_load(&key->generation) : 0;

	if (generation % 2 == 1)
		values_with(number)->at[number] = (struct value){ generation, data };
}

void *library_key_get(int number)
{
	const struct key *key = key_at(number);
	const struct values *v = key != NULL ? pthread_getspecific(keys.values) : NULL;

	if (v == NULL || (size_t)number >= v->room || v->at[number].generation != atomic_load(&key->generation))
		return NULL;
	return v->at[number].data;
}
