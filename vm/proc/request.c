/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a call has the same number in each of its steps, whichever of its messages is looked at. */
#include "proc/request.h"

#include "proc/peer.h"
#include "proc/probe.h"
#include "term/node.h"

struct call {
	Term caller, ref; /* TERM_NONE: the message is none */
};

#define NO_CALL ((struct call){ TERM_NONE, TERM_NONE })

/* The number of a reference of another node has this bit, which one of ours has not. */
#define REMOTE_BIT (1ull << 63)

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull; /* 2^64 by the golden ratio */
	return hash ^ hash >> 29;
}

static uint64_t number_of(Term ref)
{
	const struct extern_id *id;
	uint64_t hash;

	if (term_is_local_ref(ref))
		return ref_number(ref);
	id = (const struct extern_id *)boxed_ptr(ref);
	hash = mix(mix(0, id->node->name.name), id->node->name.creation);
	for (uint32_t i = 0; i <= id->ids[0]; i++)
		hash = mix(hash, id->ids[i]);
	return hash | REMOTE_BIT;
}

/* The reference that a tag is, or holds: Ref, [alias | Ref], [[alias | Ref] | _]. */
static Term ref_of_tag(Term tag)
{
	for (int depth = 0; depth < 2 && term_is_cons(tag); depth++)
		tag = term_is_cons(cons_head(tag)) ? cons_head(tag) : cons_tail(tag);
	return term_is_ref(tag) ? tag : TERM_NONE;
}

static struct call read_call(Term message)
{
	Term from;

	if (term_is_tuple_of(message, 5))
		return term_is_pid(tuple_get(message, 1)) && term_is_ref(tuple_get(message, 2)) &&
		       term_is_ref(tuple_get(message, 3)) ?
		       (struct call){ tuple_get(message, 1), tuple_get(message, 2) } : NO_CALL;
	if (!term_is_tuple_of(message, 3))
		return NO_CALL;
	from = tuple_get(message, 2);
	return term_is_tuple_of(from, 2) && term_is_pid(tuple_get(from, 1)) ?
	       (struct call){ tuple_get(from, 1), ref_of_tag(tuple_get(from, 2)) } : NO_CALL;
}

/* The reference of the monitor of which the message tells that it has fired; TERM_NONE: it is no such message. */
static Term read_down(Term message)
{
	bool is_down = term_is_tuple_of(message, 5) && term_is_atom(tuple_get(message, 1));

	return is_down && term_is_ref(tuple_get(message, 2)) ? tuple_get(message, 2) : TERM_NONE;
}

/* The reference of the call that the message replies to; TERM_NONE: it is no reply. */
static Term read_reply(Term message)
{
	return term_is_tuple_of(message, 2) ? ref_of_tag(tuple_get(message, 1)) : TERM_NONE;
}

PROBE_COLD void request_sent(const Process *from, Term to, Term message)
{
	struct call call = read_call(message);
	Term reply = read_reply(message), server = term_is_tuple_of(to, 2) ? tuple_get(to, 1) : to;

	if (call.ref != TERM_NONE)
		probe_request__step(server, call.caller, REQUEST_SENT, number_of(call.ref));
	else if (reply != TERM_NONE)
		probe_request__step(from != NULL ? from->id : TERM_NONE, to, REQUEST_REPLIED, number_of(reply));
}

PROBE_COLD void request_received(const Process *p, Term message)
{
	struct call call = read_call(message);
	Term reply = read_reply(message), down = read_down(message);

	if (call.ref != TERM_NONE)
		probe_request__step(p->id, call.caller, REQUEST_TAKEN, number_of(call.ref));
	else if (reply != TERM_NONE)
		probe_request__step(p->id, TERM_NONE, REQUEST_ANSWERED, number_of(reply));
	else if (down != TERM_NONE)
		probe_request__step(p->id, TERM_NONE, REQUEST_DOWN, number_of(down));
}

PROBE_COLD void request_ended(const Process *p, Term ref)
{
	probe_request__step(p->id, TERM_NONE, REQUEST_ENDED, number_of(ref));
}

PROBE_COLD void request_left(const Process *p, Term ref)
{
	probe_request__step(p->id, TERM_NONE, REQUEST_GONE, number_of(ref));
}
