/* SPDX-License-Identifier: Apache-2.0 */
/* A process is read as it stands: nothing is changed. After a crash no lock is taken; a VM that goes on has pollers
 * that deliver messages while its schedulers stand still. */
#include "dump/dump_process.h"

#include "code/breakpoint.h"
#include "code/code_print.h"
#include "data/print.h"
#include "dump/dump_out.h"
#include "dump/dump_term.h"
#include "proc/dict.h"
#include "proc/message.h"
#include "proc/sched.h"

enum { TEXT_BYTES = 1000 };

static void write_term_text(Term t)
{
	char text[TEXT_BYTES];

	print_term_fixed(text, sizeof(text), t);
	dump_text(text);
}

static void write_pid_line(const char *name, Term pid)
{
	dump_format("%s: ", name);
	if (pid == NIL || pid == TERM_NONE)
		dump_text("[]");
	else
		write_term_text(pid);
	dump_text("\n");
}

/* ---- the summary */

static size_t stack_heap_words(const struct heap *h) { return (size_t)(h->end - h->start); }
static size_t old_words(const struct heap *h) { return (size_t)(h->old_end - h->old_start); }

static void write_place(const Inst *pc)
{
	char text[TEXT_BYTES];
	struct print_buffer b;

	print_buffer_fixed(&b, text, sizeof(text));
	code_print_place(&b, pc);
	dump_text(text);
}

static const char *state_name(const Process *p)
{
	uint32_t state = atomic_load(&p->state);

	if (state & PS_EXITING)
		return "Exiting";
	if (state & PS_RUNNING)
		return "Running";
	if (state & PS_SUSPENDED)
		return "Suspended";
	return state & PS_RUNNABLE ? "Scheduled" : "Waiting";
}

static void write_separator(bool *any)
{
	dump_text(*any ? ", " : "");
	*any = true;
}

static void write_ref(const struct peer *n)
{
	Term at[REF_WORDS];

	write_term_text(peer_ref(n, at));
}

static void write_peer(const struct peer *n, void *arg)
{
	bool *any = arg;

	switch (n->kind) {
	case PEER_LINK:
		write_separator(any);
		write_term_text(n->peer);
		break;
	case PEER_MONITOR:
	case PEER_WATCHER:
		if (term_is_pid(n->peer) || term_is_port(n->peer)) {
			write_separator(any);
			dump_text(n->kind == PEER_MONITOR ? "{to," : "{from,");
			write_term_text(n->peer);
			dump_text(",");
			write_ref(n);
			dump_text("}");
		}
		break;
	default:
		break;
	}
}

static void write_peers(const Process *p)
{
	bool any = false;

	if (peer_count(&p->links) + peer_count(&p->monitors) + peer_count(&p->monitored_by) == 0)
		return;
	dump_text("Link list: [");
	peer_each(&p->links, write_peer, &any);
	peer_each(&p->monitors, write_peer, &any);
	peer_each(&p->monitored_by, write_peer, &any);
	dump_text("]\n");
}

/* Those too that came in and were not looked at yet. */
static void each_message(Process *p, void (*see)(const struct signal *s, void *arg), void *arg)
{
	bool locks = dump_vm_goes_on();

	for (const struct signal *s = p->msg_first; s != NULL; s = s->next)
		see(s, arg);
	if (locks)
		lock_acquire(&p->signals_lock);
	for (const struct signal *s = p->in_first; s != NULL; s = s->next)
		if (s->kind == SIG_MESSAGE)
			see(s, arg);
	if (locks)
		lock_release(&p->signals_lock);
}

static unsigned count_messages(const Process *p)
{
	return p->msg_length + __atomic_load_n(&p->in_length, __ATOMIC_RELAXED);
}

static void count_bytes(const struct signal *s, void *arg)
{
	size_t *bytes = arg;

	*bytes += sizeof(*s) + (s->fragment != NULL ? s->fragment->size_words * sizeof(Term) : 0);
}

/* Units: bytes that its heap, stack and messages take. */
static size_t memory_of(Process *p)
{
	size_t bytes = sizeof(*p) +
		       (stack_heap_words(&p->heap) + old_words(&p->heap) + p->heap.fragment_words) * sizeof(Term);

	each_message(p, count_bytes, &bytes);
	return bytes;
}

static void write_origin(const Process *p)
{
	char text[TEXT_BYTES];
	struct print_buffer b;

	print_buffer_fixed(&b, text, sizeof(text));
	print_mfa(&b, p->initial_module, p->initial_function, p->initial_arity);
	dump_format("Spawned as: %s\n", text);
	write_pid_line("Spawned by", p->parent);
}

static void write_sizes(Process *p)
{
	const struct heap *h = &p->heap;
	unsigned fragments = 0;

	for (const struct fragment *f = h->fragments; f != NULL; f = f->next)
		fragments++;
	dump_format("Number of heap fragments: %u\nHeap fragment data: %zu\n", fragments, h->fragment_words);
	write_peers(p);
#define SIZE(name, value) dump_format(name ": %llu\n", (unsigned long long)(value));
#include "proc/process_sizes.def"
	dump_format("Memory: %zu\n", memory_of(p));
}

void dump_process_summary(Process *p)
{
	Term name = atomic_load(&p->reg_name);

	dump_text("=proc:");
	write_term_text(p->id);
	dump_format("\nState: %s\n", state_name(p));
	if (name != TERM_NONE) {
		dump_text("Name: ");
		write_term_text(name);
		dump_text("\n");
	}
	write_origin(p);
	dump_format("Message queue length: %u\n", count_messages(p));
	write_sizes(p);
	if (!(atomic_load(&p->state) & PS_RUNNING)) {
		dump_text("Program counter: ");
		write_place(p->i);
		dump_text("\n");
	}
	dump_format("Internal State: 0x%x\n", atomic_load(&p->state));
}

/* ---- what it holds */

static void begin_section(const char *name, const Process *p)
{
	dump_format("=%s:", name);
	write_term_text(p->id);
	dump_text("\n");
}

static void write_dictionary(const Process *p)
{
	if (p->dict == NULL || p->dict->count == 0)
		return;
	begin_section("proc_dictionary", p);
	for (uint32_t i = 0; i < p->dict->room; i++) {
		if (p->dict->pairs[2 * i] == TERM_NONE)
			continue;
		dump_term_pair(&p->dict->pairs[2 * i]);
		dump_text("\n");
	}
}

static void write_message(const struct signal *s, void *arg)
{
	(void)arg;
	dump_term(s->term);
	dump_text(":");
	dump_term(s->token);
	dump_text("\n");
}

static void write_slot(const Term *slot, unsigned *number)
{
	if (*slot == TERM_NONE) {
		dump_format("y%u:N\n", (*number)++);
	} else if (term_is_header(*slot)) {
		dump_format("0x%016lx:SReturn addr ", (unsigned long)slot);
		write_place((const Inst *)*slot);
		dump_text("\n");
		*number = 0;
	} else if (term_is_catch(*slot)) {
		dump_format("y%u:SCatch ", (*number)++);
		write_place(catch_handler(*slot));
		dump_text("\n");
	} else {
		dump_format("y%u:", (*number)++);
		dump_term(*slot);
		dump_text("\n");
	}
}

static void write_stack(const Process *p)
{
	unsigned number = 0;

	begin_section("proc_stack", p);
	for (const Term *slot = p->heap.stop; slot < p->heap.end; slot++) {
		slot = breakpoint_skip_frames(slot);
		write_slot(slot, &number);
	}
}

void dump_process_terms(Process *p)
{
	write_dictionary(p);
	if (count_messages(p) > 0) {
		begin_section("proc_messages", p);
		each_message(p, write_message, NULL);
	}
	write_stack(p);
	begin_section("proc_heap", p);
	dump_term_objects();
	dump_term_binaries();
	dump_term_reset();
}
