/* SPDX-License-Identifier: Apache-2.0 */
/* A module's machine code: first each operation gets its stencil and its place, then they are filled. An operation
 * that is the loop's has a stub that leaves to it; ways out of stencils have such stubs behind all operations. */
#include "jit/native.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "code/breakpoint.h"
#include "code/code_area.h"
#include "jit/native_pages.h"
#include "jit/native_perf.h"
#include "jit/stencil.h"
#include "proc/sched.h"

/* lea at(%rip),%rbx; jmp to */
enum { LEA_BYTES = 7, STUB_BYTES = LEA_BYTES + 5, RETURN_BYTES = 6, JUMP_BYTES = 6, ENTRY_BYTES = sizeof(uint16_t) };
/* NATIVE_LEAVING: a jump over the entry's bytes; behind them subl $1,toll(%r15) and js to a stub. */
enum { OVER_BYTES = 2, COUNT_BYTES = 8, TOLL_BYTES = COUNT_BYTES + 6 };

/* What all modules' code shares, in pages of its own. */
static struct {
	uintptr_t exits[NATIVE_EXITS]; /* by enum native_exit */
	uintptr_t functions; /* a jump to each of stencil_functions, FUNCTION_BYTES apart */
	uintptr_t stencils[STENCIL_SHARED_COUNT];
	bool lacks_stencils; /* some are 0: the loop calls those natives */
	bool tolls;          /* NATIVE_LEAVING */
} shared;
enum { FUNCTION_BYTES = 16, STORE_BYTES = 7, EXIT_BYTES = 32 };

/* An operation of the module. */
struct place {
	uint32_t word;
	uint32_t offset;     /* of its machine code, which begins with the toll, if any */
	uint16_t op;         /* whose stencil it is */
	bool is_entry;       /* the loop enters here */
	const struct stencil *stencil; /* NULL: it is the loop's */
};

struct assembly {
	struct code_instance *c;
	struct place *places;
	size_t count, room;
	uint32_t *place_of;  /* by word: of the operation that begins there, + 1 */
	size_t bytes;        /* all of it */
	size_t stub_end;     /* where the next stub goes */
	struct native_code *code;
	uint8_t *to;         /* its pages */
	const Inst *left_at; /* the operation whose way to the loop was made last */
	uintptr_t left_stub;
};

/* ---- operations */

static size_t op_words(const Inst *at)
{
	const struct opcode_info *o = opcode_info((uint16_t)*at);
	size_t words = o->words;

	for (unsigned i = 0; i < o->count; i++)
		if (o->fields[i].kind == 'n')
			words += (uint32_t)((const int32_t *)at)[o->fields[i].offset / 4];
	return words;
}

/* ---- first pass */

static size_t stubs_of(const struct stencil *s)
{
	size_t exits = 0, preempts = 0;

	for (unsigned i = 0; i < s->patch_count; i++) {
		exits |= s->patches[i].hole == STENCIL_EXIT;
		preempts += s->patches[i].hole == STENCIL_PREEMPT && s->patches[i].number != 0;
	}
	return exits + preempts;
}

static bool needs_what_is_missing(const struct stencil *s)
{
	if (likely(!shared.lacks_stencils))
		return false;
	for (unsigned i = 0; i < s->patch_count; i++)
		if (s->patches[i].hole == STENCIL_NATIVE && shared.stencils[s->patches[i].number] == 0)
			return true;
	return false;
}

static void add_place(struct assembly *a, const Inst *at)
{
	struct place *p;
	unsigned op = stencil_op((uint16_t)*at);
	const struct stencil *s = stencil_find(op, at);

	if (a->count == a->room) {
		a->room = a->room * 2 + 64;
		a->places = mem_realloc(a->places, a->room * sizeof *a->places);
	}
	p = &a->places[a->count++];
	*p = (struct place){ .word = (uint32_t)(at - a->c->words), .op = (uint16_t)op };
	if (s != NULL && stencil_fits(s, at) && !needs_what_is_missing(s))
		p->stencil = s;
	a->place_of[p->word] = (uint32_t)a->count;
}

/* It ends elsewhere, or is where a process mostly waits: what is behind it is gone to by its address alone. */
static bool goes_away(const struct place *p)
{
	const struct stencil *s = p->stencil;

	return s == NULL || p->op == OP_loop_rec ||
	       (s->patch_count > 0 && s->patches[s->patch_count - 1].hole == STENCIL_NATIVE);
}

/* The loop enters at a function, and behind what it did itself or may end, where that is worth it: two operations at
 * least. */
static bool is_entered(const struct assembly *a, size_t n)
{
	const struct place *p = &a->places[n];

	if (p->stencil == NULL || n == 0)
		return false;
	if (shared.tolls)
		return true;
	if (!goes_away(&p[-1]))
		return false;
	return p[-1].op == OP_func_info || (n + 1 < a->count && p[1].stencil != NULL);
}

static size_t toll_bytes(void) { return shared.tolls ? TOLL_BYTES : 0; }

static void lay_out(struct assembly *a)
{
	size_t at = 0, stubs = 0;

	for (size_t n = 0; n < a->count; n++) {
		struct place *p = &a->places[n];

		p->is_entry = is_entered(a, n);
		at += p->is_entry ? ENTRY_BYTES + (shared.tolls ? OVER_BYTES : 0) : 0;
		p->offset = (uint32_t)at;
		at += p->stencil != NULL ? toll_bytes() + p->stencil->size : STUB_BYTES;
		stubs += p->stencil != NULL ? stubs_of(p->stencil) + shared.tolls : 0;
	}
	a->stub_end = at;
	a->bytes = at + stubs * STUB_BYTES;
	a->code->pieces = mem_alloc((a->count + stubs) * sizeof *a->code->pieces);
}

/* ---- second pass */

static void put_stub(uint8_t *to, const Inst *i, uintptr_t way)
{
	int64_t here = (int64_t)((uintptr_t)i - (uintptr_t)(to + LEA_BYTES));
	int64_t there = (int64_t)(way - (uintptr_t)(to + STUB_BYTES));
	int32_t distance = (int32_t)here;

	ENSURE(here == distance && there == (int32_t)there);
	memcpy(to, (const uint8_t[]){ 0x48, 0x8d, 0x1d }, 3);
	memcpy(to + 3, &distance, 4);
	distance = (int32_t)there;
	to[LEA_BYTES] = 0xe9;
	memcpy(to + LEA_BYTES + 1, &distance, 4);
}

static bool returns(const struct stencil *s)
{
	for (unsigned i = 0; s != NULL && i < s->patch_count; i++)
		if (s->patches[i].hole == STENCIL_PREEMPT_RETURN)
			return true;
	return false;
}

static void add_piece(struct assembly *a, size_t at, const Inst *i, const struct stencil *s)
{
	a->code->pieces[a->code->piece_count++] =
		(struct native_piece){ (uint32_t)at, (uint32_t)(i - a->c->words), returns(s) };
}

static uintptr_t add_stub(struct assembly *a, const Inst *i, enum native_exit how)
{
	uint8_t *to = a->to + a->stub_end;

	ENSURE(a->stub_end + STUB_BYTES <= a->bytes);
	put_stub(to, i, shared.exits[how]);
	add_piece(a, a->stub_end, i, NULL);
	a->stub_end += STUB_BYTES;
	return (uintptr_t)to;
}

static uintptr_t find_label(void *arg, const Inst *at)
{
	const struct assembly *a = arg;
	size_t word = (size_t)(at - a->c->words);

	ENSURE(word < a->c->word_count && a->place_of[word] != 0);
	return (uintptr_t)a->to + a->places[a->place_of[word] - 1].offset;
}

/* All exits of one operation share a stub. */
static uintptr_t find_exit(void *arg, const Inst *at)
{
	struct assembly *a = arg;

	if (a->left_at != at) {
		a->left_at = at;
		a->left_stub = add_stub(a, at, NATIVE_LEFT);
	}
	return a->left_stub;
}

static uintptr_t find_preempt(void *arg, const Inst *at)
{
	return add_stub(arg, at, NATIVE_PREEMPTED);
}

static uintptr_t find_function(void *arg, unsigned number)
{
	(void)arg;
	return shared.functions + number * FUNCTION_BYTES;
}

/* Of the operation at `at`, whose machine code begins at `to`. Returns where its stencil goes. */
static uint8_t *put_toll(struct assembly *a, const struct place *p, const Inst *at, uint8_t *to)
{
	int32_t counter = (int32_t)(offsetof(struct sched, native_toll) - offsetof(struct sched, x)), distance;

	if (!shared.tolls)
		return to;
	if (p->is_entry)
		memcpy(to - ENTRY_BYTES - OVER_BYTES, (const uint8_t[OVER_BYTES]){ 0xeb, ENTRY_BYTES }, OVER_BYTES);
	memcpy(to, (const uint8_t[COUNT_BYTES]){ 0x41, 0x83, 0xaf, 0, 0, 0, 0, 1 }, COUNT_BYTES);
	memcpy(to + 3, &counter, sizeof counter);
	distance = (int32_t)(add_stub(a, at, NATIVE_TOLLED) - (uintptr_t)(to + TOLL_BYTES));
	memcpy(to + COUNT_BYTES, (const uint8_t[2]){ 0x0f, 0x88 }, 2);
	memcpy(to + COUNT_BYTES + 2, &distance, sizeof distance);
	return to + TOLL_BYTES;
}

/* Where the operation behind the n-th one begins, which may be a jump over what the entry has before it. */
static uint8_t *next_code(const struct assembly *a, size_t n)
{
	const struct place *p = &a->places[n + 1];

	if (n + 1 == a->count)
		return a->to + a->places[n].offset + toll_bytes() + a->places[n].stencil->size;
	return a->to + p->offset - (shared.tolls && p->is_entry ? ENTRY_BYTES + OVER_BYTES : 0);
}

static void fill(struct assembly *a)
{
	for (size_t n = 0; n < a->count; n++)
		add_piece(a, a->places[n].offset, a->c->words + a->places[n].word, a->places[n].stencil);
	for (size_t n = 0; n < a->count; n++) {
		const struct place *p = &a->places[n];
		const Inst *at = a->c->words + p->word;
		uint8_t *to = a->to + p->offset;
		struct stencil_ways ways = {
			.leave = shared.exits[NATIVE_LEFT],
			.preempt = shared.exits[NATIVE_PREEMPTED],
			.preempt_return = shared.exits[NATIVE_PREEMPTED_RETURN],
			.arg = a, .label = find_label, .exit_at = find_exit, .preempt_at = find_preempt,
			.function = find_function, .shared = shared.stencils,
		};

		if (p->is_entry)
			memcpy(to - ENTRY_BYTES, &(uint16_t){ (uint16_t)*at }, ENTRY_BYTES);
		if (p->stencil == NULL) {
			put_stub(to, at, shared.exits[NATIVE_LEFT]);
			continue;
		}
		to = put_toll(a, p, at, to);
		ways.next = (uintptr_t)next_code(a, n);
		ENSURE(stencil_fill(p->stencil, at, &ways, to, (uintptr_t)to));
	}
}

/* Others may run the code: they find the whole of it, or none. */
static void publish(struct assembly *a)
{
	for (size_t n = 0; n < a->count; n++) {
		const struct place *p = &a->places[n];
		const Inst *at = a->c->words + p->word;

		if (p->stencil != NULL)
			__atomic_store_n(code_native_at(at), (uintptr_t)a->to + p->offset, __ATOMIC_RELEASE);
	}
	for (size_t n = 0; n < a->count; n++) {
		const struct place *p = &a->places[n];

		if (p->is_entry)
			__atomic_store_n((uint16_t *)(a->c->words + p->word), OP_native, __ATOMIC_RELEASE);
	}
}

/* Fails: false, there is no room for it, or it must not be run. */
static bool assemble(struct assembly *a)
{
	lay_out(a);
	a->to = native_pages_take(a->code, a->bytes);
	if (a->to == NULL)
		return false;
	a->code->taken = code_area_given();
	a->code->at = a->to;
	a->code->bytes = a->bytes;
	fill(a);
	if (!native_pages_seal(a->to, a->bytes)) {
		native_pages_give(a->to, a->bytes);
		return false;
	}
	publish(a);
	native_perf_add(a->c, a->code);
	return true;
}

static void free_native(struct native_code *code)
{
	mem_free(code->pieces);
	mem_free(code);
}

/* Once. */
static void tell_lack(const struct code_instance *c)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&told))
		log_line("erlvm: +JIT: no memory for machine code of %s: it is interpreted, and others may be",
			 atom_text(c->module, NULL));
}

/* By a breakpoint, or a library's function, which stands in the first word of what was there. */
static bool is_changed(const struct code_instance *c)
{
	for (uint32_t i = 0; i < c->function_count; i++) {
		uint16_t op = (uint16_t)c->functions[i][FUNC_INFO_WORDS];

		if (op == OP_breakpoint || op == OP_breakpoint_debug || op == OP_call_nif)
			return true;
	}
	return false;
}

void native_make(struct code_instance *c)
{
	struct assembly a = { .c = c };

	if (c->word_count == 0 || is_changed(c))
		return;
	a.code = mem_zalloc(sizeof *a.code);
	a.code->words = c->words;
	a.place_of = mem_zalloc(c->word_count * sizeof *a.place_of);
	for (size_t word = 0; word < c->word_count; word += op_words(c->words + word))
		add_place(&a, c->words + word);
	if (assemble(&a)) {
		c->native = a.code;
	} else {
		free_native(a.code);
		tell_lack(c);
	}
	mem_free(a.places);
	mem_free(a.place_of);
}

static void drop_native(struct code_instance *c)
{
	for (size_t word = 0; word < c->word_count; word++) {
		Inst *at = c->words + word;
		uintptr_t *native = code_native_at(at);

		if (*native == 0)
			continue;
		if ((uint16_t)*at == OP_native)
			*at = (*at & ~(Inst)0xffff) | breakpoint_native_opcode(at);
		*native = 0;
	}
	native_pages_give(c->native->at, c->native->bytes);
	free_native(c->native);
	c->native = NULL;
	atomic_store(&c->heat, 0);
}

/* ---- what all share */

/* mov %rbx,i(%r14); mov %r12,stop(%r14); mov %r13,top(%r14); mov $how,%eax; ret */
static void put_exit(uint8_t *to, enum native_exit how)
{
	static const struct {
		uint8_t code[3];
		uint32_t at;
	} stores[] = {
		{ { 0x49, 0x89, 0x9e }, offsetof(Process, i) },
		{ { 0x4d, 0x89, 0xa6 }, offsetof(Process, heap.stop) },
		{ { 0x4d, 0x89, 0xae }, offsetof(Process, heap.top) },
	};

	for (size_t i = 0; i < sizeof stores / sizeof *stores; i++, to += STORE_BYTES) {
		memcpy(to, stores[i].code, sizeof stores[i].code);
		memcpy(to + sizeof stores[i].code, &stores[i].at, sizeof stores[i].at);
	}
	memcpy(to, (const uint8_t[RETURN_BYTES]){ 0xb8, (uint8_t)how, 0, 0, 0, 0xc3 }, RETURN_BYTES);
}

/* The stencils that calls of natives share. */
static void put_stencils(uint8_t *to)
{
	struct stencil_ways ways = {
		.leave = shared.exits[NATIVE_LEFT], .preempt_return = shared.exits[NATIVE_PREEMPTED_RETURN],
		.failed = shared.exits[NATIVE_FAILED], .tail_failed = shared.exits[NATIVE_TAIL_FAILED],
		.collect = shared.exits[NATIVE_COLLECT], .exited = shared.exits[NATIVE_EXITED],
		.function = find_function,
	};
	const Inst *in_range = (const Inst *)(code_area_native() + CODE_NATIVE_BYTES);

	for (unsigned n = 0; n < STENCIL_SHARED_COUNT; n++) {
		const struct stencil *s = stencil_shared(n);

		shared.lacks_stencils |= s == NULL;
		if (s == NULL)
			continue;
		ENSURE(stencil_fill(s, in_range, &ways, to, (uintptr_t)to));
		shared.stencils[n] = (uintptr_t)to;
		to += s->size;
	}
}

static size_t shared_stencil_bytes(void)
{
	size_t bytes = 0;

	for (unsigned n = 0; n < STENCIL_SHARED_COUNT; n++)
		bytes += stencil_shared(n) != NULL ? stencil_shared(n)->size : 0;
	return bytes;
}

/* For each function of C: jmp *2(%rip); its address */
static bool make_shared(void)
{
	size_t exits = NATIVE_EXITS * EXIT_BYTES, functions = stencil_function_count * FUNCTION_BYTES;
	size_t bytes = exits + functions + shared_stencil_bytes();
	uint8_t *to = native_pages_take(NULL, bytes);

	if (to == NULL)
		return false;
	for (size_t i = 0; i < NATIVE_EXITS; i++) {
		put_exit(to + i * EXIT_BYTES, (enum native_exit)i);
		shared.exits[i] = (uintptr_t)(to + i * EXIT_BYTES);
	}
	shared.functions = (uintptr_t)(to + exits);
	put_stencils(to + exits + functions);
	for (size_t i = 0; i < stencil_function_count; i++) {
		uint8_t *at = (uint8_t *)shared.functions + i * FUNCTION_BYTES;

		memcpy(at, (const uint8_t[JUMP_BYTES]){ 0xff, 0x25, 2, 0, 0, 0 }, JUMP_BYTES);
		memcpy(at + JUMP_BYTES + 2, &stencil_functions[i].call, sizeof stencil_functions[i].call);
	}
	return native_pages_seal(to, bytes);
}

static void interpret(enum native_mode mode, const char *why)
{
	if (mode != NATIVE_UNSAID)
		log_line("erlvm: +JIT: no machine code, all is interpreted: %s", why);
}

bool native_is_built(void) { return stencil_count > 0; }

void native_init(enum native_mode mode, bool perf_map, bool perf_dump)
{
	if (!native_is_built()) {
		interpret(mode, "this build has none; it takes gcc for x86-64, without a sanitizer");
		return;
	}
	if (code_area_native() == 0) {
		interpret(mode, "there is no room of addresses for it (ulimit -v)");
		return;
	}
	native_pages_init(code_area_native());
	if (!make_shared()) {
		interpret(mode, "the system refuses memory that is run");
		return;
	}
	shared.tolls = mode == NATIVE_LEAVING;
	native_perf_init(perf_map, perf_dump);
	if (mode < NATIVE_ALL)
		sched_sampled = native_heat_sampled;
	module_native_hooks = (struct module_native_hooks){ mode >= NATIVE_ALL ? native_make : NULL, drop_native };
}
