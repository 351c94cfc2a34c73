/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an external term: decoded, and what is a term is encoded and decoded again, in several ways. Invariant:
 * the terms are the same, so are their hashes, and etf_size_bytes tells the size. The first byte chooses the flags. For
 * libFuzzer. */
#include <string.h>

#include "base/log.h"
#include "code/export.h"
#include "code/fun.h"
#include "data/compare.h"
#include "data/etf.h"
#include "data/phash.h"
#include "heap/copy.h"
#include "heap/gc.h"
#include "heap/literal.h"
#include "term/node.h"
#include "start.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_start();
	return 0;
}

static void check_same(Term a, Term b)
{
	ENSURE(term_same(a, b));
	ENSURE(term_compare_exact(a, b) == 0);
	ENSURE(phash2(a) == phash2(b));
}

static void check_round_trip(Term t, unsigned flags)
{
	struct binary *b = etf_encode(t, flags);
	struct fragment *f = NULL;
	Term again;

	ENSURE(b != NULL);
	if (!(flags & ETF_COMPRESSED))
		ENSURE(b->size_bytes == etf_size_bytes(t, flags));
	ENSURE(etf_decode(b->data, b->size_bytes, &f, &again, 0) == 0);
	if (!(flags & ETF_MINOR_0))
		check_same(t, again);
	fragment_free(f);
	binary_unref(b);
}

static void check_copy(Term t)
{
	struct heap h;
	Term copy;
	struct gc_result result;

	heap_init(&h, HEAP_MIN_WORDS);
	copy = copy_to_heap(t, &h);
	check_same(t, copy);
	ENSURE(gc_run_gc(&h, 0, &(struct gc_root){ &copy, 1 }, 1, &result));
	check_same(t, copy);
	heap_free(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const unsigned ways[] = { 0, ETF_COMPRESSED | ETF_LEVEL(6), ETF_DETERMINISTIC, ETF_MINOR_0,
					 ETF_ATOMS_LATIN1 };
	struct heap h;
	size_t used;
	Term t;

	if (n == 0)
		return 0;
	heap_init(&h, HEAP_MIN_WORDS);
	if (etf_decode_to_heap(bytes + 1, n - 1, bytes[0] & ETF_SAFE, &h, &t, &used) == 0) {
		ENSURE(used <= n - 1);
		check_round_trip(t, ways[(bytes[0] >> 1) % (sizeof(ways) / sizeof(ways[0]))]);
		check_copy(t);
	}
	heap_free(&h);
	return 0;
}
