/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a process, in the order of OTP's. A crash dump writes its own, as it must not allocate. */
#include "trace/process_text.h"

#include "code/code_print.h"
#include "proc/dict.h"
#include "proc/message.h"
#include "proc/process_gc.h"

static void begin_element(struct print_buffer *b, bool *any)
{
	if (*any)
		print_text(b, ", ");
	*any = true;
}

static void print_messages(struct print_buffer *b, const Process *p)
{
	bool any = false;

	print_format(b, "Message queue length: %u\n", (unsigned)p->msg_length);
	if (p->msg_first == NULL)
		return;
	print_text(b, "Message queue: [");
	for (const struct signal *s = p->msg_first; s != NULL; s = s->next) {
		begin_element(b, &any);
		print_term(b, s->term);
	}
	print_text(b, "]\n");
}

static void print_fragments(struct print_buffer *b, const struct heap *h)
{
	unsigned count = 0;

	for (const struct fragment *f = h->fragments; f != NULL; f = f->next)
		count++;
	print_format(b, "Number of heap fragments: %u\nHeap fragment data: %zu\n", count, h->fragment_words);
}

struct peer_list {
	struct print_buffer *b;
	bool any;
};

static void print_peer(const struct peer *n, void *arg)
{
	struct peer_list *l = arg;
	Term at[REF_WORDS];

	if (n->kind != PEER_LINK && n->kind != PEER_MONITOR && n->kind != PEER_WATCHER)
		return;
	if (!term_is_pid(n->peer) && !term_is_port(n->peer))
		return;
	begin_element(l->b, &l->any);
	if (n->kind != PEER_LINK)
		print_text(l->b, n->kind == PEER_MONITOR ? "{to," : "{from,");
	print_term(l->b, n->peer);
	if (n->kind == PEER_LINK)
		return;
	print_text(l->b, ",");
	print_term(l->b, peer_ref(n, at));
	print_text(l->b, "}");
}

static void print_peers(struct print_buffer *b, const Process *p)
{
	struct peer_list l = { b, false };

	if (peer_count(&p->links) + peer_count(&p->monitors) + peer_count(&p->monitored_by) == 0)
		return;
	print_text(b, "Link list: [");
	peer_each(&p->links, print_peer, &l);
	peer_each(&p->monitors, print_peer, &l);
	peer_each(&p->monitored_by, print_peer, &l);
	print_text(b, "]\n");
}

static void print_dictionary(struct print_buffer *b, const Process *p)
{
	bool any = false;

	if (p->dict == NULL || p->dict->count == 0 || (p->flags & PF_SENSITIVE))
		return;
	print_text(b, "Dictionary: [");
	for (uint32_t i = 0; i < p->dict->room; i++) {
		if (p->dict->pairs[2 * i] == TERM_NONE)
			continue;
		begin_element(b, &any);
		print_text(b, "{");
		print_term(b, p->dict->pairs[2 * i]);
		print_text(b, ",");
		print_term(b, p->dict->pairs[2 * i + 1]);
		print_text(b, "}");
	}
	print_text(b, "]\n");
}

/* With its old generation, fragments and messages. */
static size_t heap_words(const Process *p)
{
	const struct heap *h = &p->heap;

	return (size_t)(h->end - h->start) + (size_t)(h->old_end - h->old_start) + h->fragment_words +
	       process_message_words(p);
}

static void print_sizes(struct print_buffer *b, const Process *p)
{
#define SIZE(name, value) print_format(b, name ": %llu\n", (unsigned long long)(value));
#include "proc/process_sizes.def"
	print_format(b, "Memory: %zu\n", sizeof(*p) + sizeof(Term) * heap_words(p));
}

static void print_origin(struct print_buffer *b, const Process *p)
{
	Term name = atomic_load(&p->reg_name);

	print_text(b, "=proc:");
	print_term(b, p->id);
	print_text(b, "\nState: Running\n");
	if (name != TERM_NONE) {
		print_text(b, "Name: ");
		print_term(b, name);
		print_text(b, "\n");
	}
	print_text(b, "Spawned as: ");
	print_mfa(b, p->initial_module, p->initial_function, p->initial_arity);
	print_text(b, "\nSpawned by: ");
	print_term(b, p->parent);
	print_text(b, "\n");
}

/* By OTP's names, for a process that runs: its priority, what it asked for, and that of its queue, which are one
 * here. */
static void print_state(struct print_buffer *b, const Process *p)
{
	static const char *const names[PRIO_COUNT] = {
		[PRIO_LOW] = "LOW", [PRIO_NORMAL] = "NORMAL", [PRIO_HIGH] = "HIGH", [PRIO_MAX] = "MAX",
	};
	const char *name = names[p->priority];

	print_format(b, "Internal State: ACT_PRIO_%s | USR_PRIO_%s | PRQ_PRIO_%s | ACTIVE | RUNNING\n", name, name,
		     name);
}

void process_text_print(struct print_buffer *b, const Process *p)
{
	print_origin(b, p);
	if (!(p->flags & PF_SENSITIVE))
		print_messages(b, p);
	print_fragments(b, &p->heap);
	print_peers(b, p);
	print_dictionary(b, p);
	print_sizes(b, p);
	print_text(b, "Stack dump:\nProgram counter: ");
	code_print_place(b, p->i);
	print_text(b, "\n");
	code_print_stack(b, p);
	print_state(b, p);
}
