/* SPDX-License-Identifier: Apache-2.0 */
/* The sequential trace token {Flags, Label, Serial, From, Previous} that messages carry along. */
#ifndef VM_PROC_SEQ_TOKEN_H
#define VM_PROC_SEQ_TOKEN_H

#include "proc/process.h"

/* What a message of p carries: the sequential trace token, a spreading user tag (a binary), or NIL. */
static inline Term seq_token_carried(const Process *p)
{
	return p->seq_token != NIL ? p->seq_token : p->flags & PF_TAG_SPREADING ? p->dt_utag : NIL;
}
/* p is about to send a message: its token counts one up. GC: none. */
void seq_token_count_send(Process *p);
/* p took a message with that token (in a fragment about to be p's), or NIL. GC: none. */
void seq_token_receive(Process *p, Term token);
/* The three numbers that probes show: label (0 when it is no small integer), previous and current count; zeros for NIL. */
struct seq_token_numbers {
	int label, previous, current;
};
struct seq_token_numbers seq_token_numbers(Term token);

#endif
