/* SPDX-License-Identifier: Apache-2.0 */
/* The sequential trace token {Flags, Label, Serial, From, Previous} that messages carry along, and the two counts that
 * a process keeps while it has had one: of the last message that it sent or took, and of the last that it took. */
#ifndef VM_PROC_SEQ_TOKEN_H
#define VM_PROC_SEQ_TOKEN_H

#include "proc/process.h"

enum seq_token_field { SEQ_TOKEN_FLAGS = 1, SEQ_TOKEN_LABEL, SEQ_TOKEN_SERIAL, SEQ_TOKEN_FROM, SEQ_TOKEN_PREVIOUS };

/* How many seq_trace:reset_trace/0 are under way. Meanwhile no message, and no birth, gives a token to a process that a
 * reset has seen already. */
extern _Atomic unsigned seq_token_resets;

/* What a message of p carries: the sequential trace token, a spreading user tag (a binary), or NIL. */
static inline Term seq_token_carried(const Process *p)
{
	if (p->seq_token != NIL && atomic_load(&seq_token_resets) == 0)
		return p->seq_token;
	return p->flags & PF_TAG_SPREADING ? p->dt_utag : NIL;
}
/* p is about to send a message: its token counts one up. GC: none. */
void seq_token_count_send(Process *p);
/* p took a message with that token (in a fragment about to be p's), or NIL. GC: none. */
void seq_token_receive(Process *p, Term token);
/* child's first token is that of its parent, as if a message had brought it. GC: none. */
void seq_token_inherit(Process *parent, Process *child);
/* One field of p's token, which is made when it is missing. GC: none. */
void seq_token_set(Process *p, enum seq_token_field field, Term value);
void seq_token_set_counts(Process *p, int64_t previous, int64_t serial);
/* The three numbers that probes show: label (INT_MIN, as in OTP, when it is no integer of 32 bits), previous and
 * current count; zeros for NIL. */
struct seq_token_numbers {
	int label, previous, current;
};
struct seq_token_numbers seq_token_numbers_of(Term token);
static inline struct seq_token_numbers seq_token_numbers(Term token)
{
	return token == NIL ? (struct seq_token_numbers){ 0, 0, 0 } : seq_token_numbers_of(token);
}

#endif
