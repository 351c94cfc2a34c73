/* SPDX-License-Identifier: Apache-2.0 */
/* The items that process_info tells of a process (process_items.c), for who asks for them (bif_process_info.c). */
#ifndef VM_BIF_PROC_PROCESS_ITEMS_H
#define VM_BIF_PROC_PROCESS_ITEMS_H

#include "data/print.h"
#include "proc/process.h"

enum { BACKTRACE_BYTES_MAX = 1 << 20 };

/* DEFAULT: in process_info/1, in this order. OWN: the value holds terms of the process's own heap. LONG: it may be as
 * long as the heap or the tables are; DEEP: it takes as long as the stack is. COSTS: a reduction of who is asked, as
 * OTP has the process itself answer. SINCE_27, SINCE_28: there is none in earlier releases. */
enum { PLAIN = 0, DEFAULT = 1, OWN = 2, LONG = 4, DEEP = 8, COSTS = 16, SINCE_27 = 32, SINCE_28 = 64 };

struct process_item {
	Term name;
	Term (*make)(Process *p, struct heap *h); /* p runs here: its value on h */
	int kind;
};

extern const struct process_item process_items[];
extern const size_t process_item_count;
/* {dictionary, Key} */
extern const struct process_item process_item_keyed;
bool process_item_is_keyed(Term name);
/* NULL: there is none. */
const struct process_item *process_item_find(Term name);
/* In p's dictionary. undefined: there is no such key. */
Term process_item_look_up(Process *p, Term key);
/* Nothing of a process that is sensitive. */
/* Where p is, be it in a native that it waits in or at its start. Fails: false where nobody could say. */
struct code_place;
bool process_item_find_current(Process *p, struct code_place *place);
void process_item_print_stack(struct print_buffer *b, Process *p);

static inline Term int_term(size_t n)
{
	return term_from_small((int64_t)n);
}

static inline Term pair(struct heap *h, Term a, Term b)
{
	return heap_tuple(h, a, b);
}

static inline size_t block_words(const struct heap *h) { return (size_t)(h->end - h->start); }
static inline size_t stack_words(const struct heap *h) { return (size_t)(h->end - h->stop); }

#endif
