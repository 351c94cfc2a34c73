/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of boot processes. Invariant: at most one of them lives; its end starts the next. */
#include "boot.h"

#include <string.h>

#include "base/log.h"
#include "heap/heap.h"
#include "proc/process.h"
#include "proc/registry.h"
#include "proc/sched.h"

enum { CALLS_MAX = 64 };

struct boot_call {
	int count;
	char **words;
	bool strings;
};

static struct {
	struct boot_call calls[CALLS_MAX];
	int count, next;
	Term running;        /* pid of the boot process */
} boot;

void boot_add_call(int count, char **words, bool strings)
{
	if (boot.count < CALLS_MAX)
		boot.calls[boot.count++] = (struct boot_call){ count, words, strings };
}

bool boot_has_calls(void)
{
	return boot.count > 0;
}

static Term make_argument(struct heap *h, const char *word, bool strings)
{
	if (strings)
		return heap_list_bytes(h, word, strlen(word), NIL);
	return atom_from_text(word);
}

/* The list of arguments of apply: none, or one list of all words. */
static Term make_arguments(struct heap *h, const struct boot_call *c)
{
	Term list = NIL;

	if (c->count <= 2)
		return NIL;
	for (int i = c->count - 1; i >= 2; i--)
		list = heap_cons(h, make_argument(h, c->words[i], c->strings), list);
	return heap_cons(h, list, NIL);
}

static void spawn_call(Term module, Term function, Term args)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;

	boot.running = process_spawn(NULL, module, function, args, &o, NULL);
	ENSURE(boot.running != TERM_NONE);
}

static void start_next(void)
{
	const struct boot_call *c;
	struct heap h;

	if (boot.next == boot.count) {
		boot.running = TERM_NONE;
		return;
	}
	c = &boot.calls[boot.next++];
	heap_init(&h, HEAP_MIN_WORDS);
	spawn_call(atom_from_text(c->words[0]), c->count > 1 ? atom_from_text(c->words[1]) : am_start, make_arguments(&h, c));
	heap_free(&h);
}

/* A process that the VM itself starts has `user` as its group leader, once that is there. */
static void follow_exit(Process *p)
{
	if (p->id != boot.running)
		return;
	if (p->exc_reason != am_normal)
		sched_halt(1);
	start_next();
}

void boot_start(void)
{
	process_at_exit(follow_exit);
	spawn_call(am_user, am_start, NIL);
}
