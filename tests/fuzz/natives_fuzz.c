/* SPDX-License-Identifier: Apache-2.0 */
/* Any terms as arguments of the native functions that depend on nothing else: match specifications, regular
 * expressions, characters, I/O lists, numbers in text, searches, maps; and any bytes as a compressed stream. The first
 * byte chooses the function, the second how the rest becomes arguments: as an external term, their list, or as
 * binaries, cut at the first byte 255. For libFuzzer.
 * Invariant: a result is a whole term. */
#include <sched.h>
#include <string.h>

#include "base/log.h"
#include "bif/bif.h"
#include "code/export.h"
#include "code/fun.h"
#include "data/binary.h"
#include "data/compare.h"
#include "data/etf.h"
#include "data/phash.h"
#include "ets/match.h"
#include "ets/match_compile.h"
#include "exec/call.h"
#include "heap/literal.h"
#include "proc/sched.h"
#include "proc/worker.h"
#include "term/node.h"
#include "start.h"

enum { REGISTERS = 8, TRAPS_MAX = 2000, CHUNKS_MAX = 200, REDUCTIONS = 100, STEPS_MAX = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const struct native {
	const char *function;
	unsigned arity;
	Term (*call)(Process *p, Term *args);
} natives[] = {
#define NATIVE(name, arity) { #name, arity, bif_##name##_##arity }
	NATIVE(re_compile, 1),
	NATIVE(re_compile, 2),
	NATIVE(re_run, 2),
	NATIVE(re_run, 3),
	NATIVE(re_inspect, 2),
	NATIVE(erlang_match_spec_test, 3),
	NATIVE(ets_match_spec_compile, 1),
	NATIVE(unicode_characters_to_binary, 2),
	NATIVE(unicode_characters_to_list, 2),
	NATIVE(unicode_bin_is_7bit, 1),
	NATIVE(erlang_iolist_size, 1),
	NATIVE(erlang_iolist_to_binary, 1),
	NATIVE(erlang_list_to_bitstring, 1),
	NATIVE(erlang_iolist_to_iovec, 1),
	NATIVE(erlang_list_to_integer, 1),
	NATIVE(erlang_list_to_integer, 2),
	NATIVE(erlang_list_to_float, 1),
	NATIVE(erlang_binary_to_integer, 1),
	NATIVE(erlang_binary_to_integer, 2),
	NATIVE(erlang_binary_to_float, 1),
	NATIVE(string_list_to_float, 1),
	NATIVE(string_list_to_integer, 1),
	NATIVE(erlang_list_to_pid, 1),
	NATIVE(erlang_list_to_ref, 1),
	NATIVE(erlang_list_to_port, 1),
	NATIVE(erlang_binary_to_existing_atom, 2),
	NATIVE(erlang_list_to_existing_atom, 1),
	NATIVE(erlang_integer_to_list, 2),
	NATIVE(erlang_integer_to_binary, 2),
	NATIVE(erlang_float_to_list, 2),
	NATIVE(binary_match, 2),
	NATIVE(binary_match, 3),
	NATIVE(binary_matches, 3),
	NATIVE(binary_split, 3),
	NATIVE(binary_compile_pattern, 1),
	NATIVE(binary_longest_common_prefix, 1),
	NATIVE(binary_longest_common_suffix, 1),
	NATIVE(binary_encode_unsigned, 2),
	NATIVE(binary_decode_unsigned, 2),
	NATIVE(maps_merge, 2),
	NATIVE(maps_from_list, 1),
	NATIVE(maps_put, 3),
	NATIVE(maps_remove, 2),
	NATIVE(maps_keys, 1),
	NATIVE(lists_keyfind, 3),
	NATIVE(lists_reverse, 2),
	NATIVE(erlang_subtract, 2),
	NATIVE(erlang_append, 2),
	NATIVE(erlang_binary_to_term, 2),
	NATIVE(erlang_term_to_binary, 2),
	NATIVE(erlang_term_to_iovec, 1),
	NATIVE(erlang_external_size, 2),
	NATIVE(erlang_phash, 2),
	NATIVE(erlang_phash2, 2),
	NATIVE(erlang_md5, 1),
	NATIVE(erlang_crc32, 2),
	NATIVE(erlang_split_binary, 2),
	NATIVE(erlang_decode_packet, 3),
	NATIVE(erts_internal_cmp_term, 2),
	NATIVE(erts_internal_map_next, 3),
};

/* Traps put their arguments into its registers. */
static struct sched scheduler = { .id = 1 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	sched_of_thread = &scheduler;
	worker_init(0, 1);
	fuzz_start();
	match_init();
	bif_init();
	return 0;
}

/* The process ends while it waits. */
static Term drop(Process *p)
{
	p->drop(p, p->resume_arg);
	p->resume = NULL;
	p->exc_kind = EXC_NONE;
	return NIL;
}

/* What works in steps goes on to its end, a part of a slice each. A long match waits for a worker thread, of which
 * there is none here. */
static Term run_steps(Process *p, Term result)
{
	for (int i = 0; p->resume != NULL; i++) {
		if (i == STEPS_MAX)
			return drop(p);
		p->exc_kind = EXC_NONE;
		p->reds_left = REDUCTIONS;
		result = call_resume(p);
	}
	return result;
}

/* Calls it, and what it traps to as far as that is native. */
static Term call(Process *p, Term (*native)(Process *p, Term *args), Term *args)
{
	Term result;

	for (int i = 0;; i++) {
		p->exc_kind = EXC_NONE;
		result = run_steps(p, native(p, args));
		ENSURE((result == TERM_NONE) == (p->exc_kind != EXC_NONE));
		if (p->exc_kind != EXC_TRAP || p->trap_export->bif == NULL || i == TRAPS_MAX)
			return result;
		native = p->trap_export->bif;
		memcpy(args, scheduler.x, sizeof(Term) * REGISTERS);
	}
}

static void check(Process *p, Term result)
{
	Term reason = p->exc_kind == EXC_ERROR ? p->exc_reason : NIL;

	if (result == TERM_NONE)
		result = reason;
	ENSURE(term_compare_exact(result, result) == 0);
	phash2(result);
}

/* Fails: false when the bytes are no arguments for it. */
static bool read_arguments(Process *p, const struct native *native, uint8_t how, const uint8_t *bytes, size_t n,
			   Term *args)
{
	const uint8_t *cut = memchr(bytes, 255, n);
	size_t first = cut != NULL ? (size_t)(cut - bytes) : n, used;
	unsigned arity = 0;
	Term list;

	if (how % 2 == 1) {
		args[0] = binary_put(&p->heap, bytes, first);
		args[1] = cut != NULL ? binary_put(&p->heap, cut + 1, n - first - 1) : NIL;
		args[2] = args[3] = NIL;
		return true;
	}
	if (etf_decode_to_heap(bytes, n, 0, &p->heap, &list, &used) != 0)
		return false;
	for (; term_is_cons(list) && arity < native->arity; list = cons_tail(list))
		args[arity++] = cons_head(list);
	return arity == native->arity;
}

/* how: window bits, and what is done at the end of a stream. */
static void inflate_bytes(Process *p, uint8_t how, const uint8_t *bytes, size_t n)
{
	static const int windows[] = { 15, -15, 31, 47, 8, -8 };
	Term z = bif_zlib_open_0(p, NULL);
	Term init[] = { z, SMALL(windows[how % 6]), SMALL(how / 6 % 3) },
	     put[] = { z, heap_cons(&p->heap, binary_put(&p->heap, bytes, n), NIL) };

	bif_zlib_inflate_init_3(p, init);
	bif_zlib_enqueue_2(p, put);
	for (int i = 0; i < CHUNKS_MAX; i++) {
		Term args[] = { z, SMALL(512), SMALL(1024), SMALL(0) };
		Term result = call(p, bif_zlib_inflate_4, args);

		check(p, result);
		if (result == TERM_NONE || !term_is_tuple(result) || tuple_get(result, 1) != am_continue)
			break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const size_t count = sizeof(natives) / sizeof(natives[0]);
	Term args[REGISTERS] = { NIL };
	Process p = { 0 };

	if (n < 2)
		return 0;
	heap_init(&p.heap, HEAP_MIN_WORDS);
	p.id = term_from_pid(7, 0);
	process_ref(&p);
	if (bytes[0] % (count + 1) == count)
		inflate_bytes(&p, bytes[1], bytes + 2, n - 2);
	else if (read_arguments(&p, &natives[bytes[0] % (count + 1)], bytes[1], bytes + 2, n - 2, args))
		check(&p, call(&p, natives[bytes[0] % (count + 1)].call, args));
	/* A worker thread that still matches for it soon sees that it need not, and lets the process go. */
	while (atomic_load(&p.refs) > 1)
		sched_yield();
	heap_free(&p.heap);
	return 0;
}
