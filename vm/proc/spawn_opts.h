/* SPDX-License-Identifier: Apache-2.0 */
/* Options of spawn_opt and monitor, read from their lists. */
#ifndef VM_PROC_SPAWN_OPTS_H
#define VM_PROC_SPAWN_OPTS_H

#include "proc/monitor.h"
#include "proc/process_life.h"

enum spawn_reply { REPLY_SUCCESS = 1, REPLY_ERROR = 2, REPLY_BOTH = 3 };

struct spawn_request {
	struct spawn_options options;
	uint8_t reply;       /* enum spawn_reply */
	Term reply_tag;
};

/* request: also {reply, R} and {reply_tag, T}. Fails: false; who is to hear of it, and how, is in r all the same. */
bool spawn_opts_read(Term list, bool request, struct spawn_request *r);
/* Of a request to another node: link, monitor, reply and reply_tag. What else there is the other node judges, which may
 * be of a later release. list: proper. Fails: as above. */
bool spawn_opts_read_own(Term list, struct spawn_request *r);
bool monitor_opts_read(Term list, struct monitor_options *o);
/* [priority]: of send, exit, link. Fails: false. */
bool signal_opts_read(Term list, bool *priority);
/* What min_heap_size and min_bin_vheap_size may be, and the size that a heap then has. Fails: false. */
#define HEAP_SIZE_MAX_WORDS ((int64_t)1 << 40)
bool heap_size_read(Term value, size_t *words);
/* max_heap_size's value: words or a map; sets words and PF_MAX_HEAP_* in flags. Fails: false. */
bool max_heap_read(Term t, size_t *words, uint32_t *flags);
Term max_heap_map(struct heap *h, size_t words, uint32_t flags);
Term priority_atom(unsigned priority);
/* Fails: false. */
bool priority_read(Term atom, uint8_t *priority);

/* What new processes get unless told otherwise: system_flag. */
struct spawn_defaults {
	_Atomic uint32_t fullsweep_after;
	_Atomic size_t min_heap_words, max_heap_words, min_bin_vheap_words;
	_Atomic uint32_t max_heap_flags; /* PF_MAX_HEAP_* */
	atomic_bool off_heap_messages;
};
extern struct spawn_defaults spawn_defaults;

#endif
