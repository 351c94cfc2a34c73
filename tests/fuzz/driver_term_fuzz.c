/* SPDX-License-Identifier: Apache-2.0 */
/* Any words as a term that a driver describes. Invariant: what is refused as ill-formed builds nothing; what is built
 * is a term that can be copied, and nothing of it is lost or counted twice. The bytes are instructions: the tag of each
 * word and its arguments, pointers among them being some into memory of known size. For libFuzzer. */
#include <string.h>

#include "base/log.h"
#include "code/export.h"
#include "data/compare.h"
#include "driver/driver_port.h"
#include "heap/copy.h"
#include "start.h"

enum { WORDS_MAX = 4096, ROOM = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static struct binary *binary;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_start();
	binary = binary_new(ROOM);
	ENSURE(binary != NULL);
	memset(binary->data, 'x', ROOM);
	return 0;
}

struct input {
	const uint8_t *at, *end;
};

static uint64_t read_word(struct input *in)
{
	uint64_t word = 0;
	size_t n = in->at < in->end ? *in->at++ & 7 : 0;

	for (; n > 0 && in->at < in->end; n--)
		word = word << 8 | *in->at++;
	return word;
}

/* A pointer to ROOM bytes of the input or of ours; rarely none. */
static uint64_t read_pointer(struct input *in, uint8_t *room)
{
	uint64_t kind = read_word(in);
	size_t left = (size_t)(in->end - in->at);

	if (kind % 16 == 0)
		return 0;
	memset(room, 0, ROOM);
	memcpy(room, in->at, left < ROOM ? left : ROOM);
	return (uint64_t)room;
}

/* The arguments of a word with a pointer; how long what it points to is cannot be seen by whoever reads it. */
static size_t put_pointers(struct input *in, uint64_t tag, uint64_t *a, uint8_t *room)
{
	switch (tag) {
	case DRIVER_TERM_BINARY:
		a[0] = read_word(in) % 16 == 0 ? 0 : (uint64_t)driver_binary_of(binary);
		a[1] = read_word(in);
		a[2] = read_word(in);
		return 3;
	case DRIVER_TERM_STRING: case DRIVER_TERM_STRING_CONS: case DRIVER_TERM_EXTERNAL: case DRIVER_TERM_BUFFER:
		a[0] = read_pointer(in, room);
		a[1] = read_word(in);
		if (a[1] <= INT32_MAX || tag == DRIVER_TERM_BUFFER)
			a[1] %= ROOM + 1;
		return 2;
	case DRIVER_TERM_FLOAT: case DRIVER_TERM_INT64: case DRIVER_TERM_UINT64:
		a[0] = read_pointer(in, room);
		return 1;
	default:
		a[0] = read_word(in);
		return 1;
	}
}

static void check_term(Term t)
{
	Term copy;
	struct fragment *f = copy_to_fragment(t, &copy);

	ENSURE(term_compare_exact(t, copy) == 0);
	if (f != NULL)
		fragment_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static uint8_t rooms[16][ROOM];
	static uint64_t words[WORDS_MAX + 4];
	struct input in = { bytes, bytes + n };
	struct heap h = { 0 };
	size_t count = 0, pointers = 0;
	uint64_t refs;
	Term t;

	while (in.at < in.end && count < WORDS_MAX) {
		uint64_t tag = words[count++] = *in.at++ % 20;

		if (tag != DRIVER_TERM_NIL)
			count += put_pointers(&in, tag, words + count, rooms[pointers++ % 16]);
	}
	if (count > 0 && n % 8 == 0)
		count--; /* an argument is missing */
	refs = binary_refs(binary);
	if (driver_term_build(words, count, &h, &t)) {
		ENSURE(driver_term_check(words, count));
		check_term(t);
	}
	heap_free(&h);
	ENSURE(binary_refs(binary) == refs);
	return 0;
}
