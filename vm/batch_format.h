/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of events that a thread of erlvm hands over through the note erlang_batch:flush(page, bytes): the contract
 * between the VM and who reads batches. Includes only probes.def; the includer has defined uint32_t and uint64_t.
 *
 * A page is a struct batch_header, then records without gaps. A record is a header word and `words` further words of
 * 8 bytes:
 *
 *   header word   BATCH_HEAD: ticks since begin_ticks, whether a word is left out, words that follow, enum batch_event
 *   argument i    word i, in the form of its unit; words missing at the end are zeros, unless the probe has texts
 *   left out      one word does not follow, as it is the same as that of the last process__scheduled before it in the
 *                 page (zero where there is none): that of argument 0, the process that runs, and of a
 *                 process__scheduled itself that of argument 1, the function. Never of a record with texts
 *   texts         behind all the arguments, in their order: the bytes of each, filled up with zeros to whole words
 *
 * Forms of the units of probes.def (numbers, never text but for `text`):
 *   pid, caller, port, name
 *                     bits 63..60 enum batch_identity; a pid: number in bits 27..0, serial in bits 59..28; a port:
 *                     its number; a name: an atom's index; a pid or port of another node: number in bits 27..0, the
 *                     index of the node's name in bits 59..28. 0: nobody. The receiver of message__send and
 *                     of message__arrive is BATCH_RUNNING in place of BATCH_PID when it runs just then
 *   node, module      an atom's index + 1; 0: none
 *   mfa               module's index in bits 57..33, function's in bits 32..8, arity in bits 7..0. 0: unknown
 *   term              as exit reasons are counted: bits 63..56 enum batch_shape of the term, or of the first element of
 *                     the tuples and lists that bits 47..32 tell (enum batch_holder, 8 bits each, the outermost
 *                     lowest); bits 31..0 an atom's index or, of a small integer, its value. 0: unknown
 *   text              bytes
 *   all others        the number
 *
 * Atoms: BATCH_ATOM (index, bytes, then the name's bytes, UTF-8) precedes a thread's first event that holds the atom,
 * and is told again once a second, after a tenth of a second without events and when somebody begins to watch (not when
 * somebody watches already).
 * Processes: BATCH_NAMED (a pid, in its form; an atom's index) says that a process registered that name, or
 * (BATCH_NO_ATOM) that it has none any more, while somebody watches births. BATCH_CALLED (a pid, an mfa): it says what
 * it is to do, by $initial_call in its dictionary. BATCH_LABELLED (a pid, a term): that is its label now, 0: none.
 * Time: ticks are CLOCK_MONOTONIC's nanoseconds or the processor's time stamp counter; the two pairs of the header say
 * which.
 */
#ifndef VM_BATCH_FORMAT_H
#define VM_BATCH_FORMAT_H

#define BATCH_MAGIC 0x44425645u /* "EVBD": the form described here */

enum {
	BATCH_PAGE_BYTES = 16384,
	BATCH_TEXT_BYTES = 1024, /* of one text at most */
	BATCH_PATIENCE_MS = 25,  /* a page is handed over when it was begun so long ago, by a thread that sleeps too */
	BATCH_INDEX_BITS = 25,   /* of an atom */
	BATCH_NO_ATOM = (1 << BATCH_INDEX_BITS) - 1, /* in place of an atom's index: there is none */
	/* The thread of the VM's last page, which is empty: no thread holds anything any more. A VM that is killed
	 * hands over none. */
	BATCH_NO_THREAD = 0,
};

/* The header word of a record: bits 63..20, 19, 18..8 (a record may have five texts), 7..0. */
#define BATCH_HEAD(since, left_out, words, event)                                                    \
	((uint64_t)(since) << 20 | (uint64_t)(left_out) << 19 | (uint64_t)(words) << 8 | (uint64_t)(event))
#define BATCH_HEAD_SINCE(head) ((head) >> 20)
#define BATCH_HEAD_LEFT_OUT(head) ((unsigned)((head) >> 19 & 1))
#define BATCH_HEAD_WORDS(head) ((unsigned)((head) >> 8 & 0x7ff))
#define BATCH_HEAD_EVENT(head) ((unsigned)((head) & 0xff))

/* Which argument's word may be left out. */
#define BATCH_MAY_LEAVE_OUT(event) ((event) == BATCH_process__scheduled ? 1 : 0)

struct batch_header {
	uint32_t magic;
	uint32_t bytes;       /* of the page that are in use, this header among them */
	uint64_t sequence;    /* of the thread's pages, from 1: a gap is pages that nobody received */
	uint32_t thread;      /* numbered by the VM, from 1 */
	uint32_t tid;         /* as the kernel knows it */
	uint64_t begin_ticks, end_ticks; /* when the page was begun, and when it was handed over */
	uint64_t begin_ns, end_ns;       /* the same moments. Units: CLOCK_MONOTONIC */
	/* that the thread told before this page, records of names not among them: a gap is events that nobody
	 * received */
	uint64_t events;
};

enum batch_event {
	BATCH_ATOM,
	BATCH_NAMED,
	BATCH_CALLED,
	BATCH_LABELLED,
	BATCH_LAST_NAME = BATCH_LABELLED, /* up to here records tell names, not events */
#define PROBE(probe, family, nargs, watch, text) BATCH_##probe,
#define PROBE_RANGE(prefix, family, nargs, first, last, text) BATCH_##prefix,
#include "probes.def"
	BATCH_EVENTS
};
_Static_assert((int)BATCH_EVENTS <= 256, "an event's number has 8 bits");

/* The most arguments that a probe has: of those that have each a member here, a byte an argument. */
union batch_args {
#define PROBE(probe, family, nargs, watch, text) char probe[nargs];
#define PROBE_RANGE(prefix, family, nargs, first, last, text) char prefix[nargs];
#include "probes.def"
};
enum {
	BATCH_MAX_ARGS = sizeof(union batch_args),
	PROBE_TEXT_BYTES = 256, /* of a text in a note, its NUL among them: longer ones are cut */
};

enum batch_identity {
	BATCH_NOBODY, BATCH_PID, BATCH_PORT, BATCH_NAME, BATCH_REMOTE, BATCH_OTHER /* such as an alias */, BATCH_RUNNING
};

/* What a term is: SHAPE(name, how it is shown; NULL: as what it is). */
#define BATCH_SHAPES(SHAPE)                                                                        \
	SHAPE(OTHER, "?")                                                                          \
	SHAPE(ATOM, NULL)                                                                          \
	SHAPE(SMALL, NULL)                                                                         \
	SHAPE(INTEGER, "integer()") /* further from zero than BATCH_SMALL_MAX */                   \
	SHAPE(FLOAT, "float()")                                                                    \
	SHAPE(PID, "pid()")                                                                        \
	SHAPE(PORT, "port()")                                                                      \
	SHAPE(REF, "#Ref<...>")                                                                    \
	SHAPE(FUN, "#Fun<...>")                                                                    \
	SHAPE(BINARY, "<<...>>")                                                                   \
	SHAPE(MAP, "#{...}")                                                                       \
	SHAPE(NIL, "[]")                                                                           \
	SHAPE(LIST, "[...]") /* a string too */                                                    \
	SHAPE(EMPTY_TUPLE, "{}")                                                                   \
	SHAPE(TUPLE, "{...}")

enum batch_shape {
#define BATCH_SHAPE_ENUM(name, text) BATCH_SHAPE_##name,
	BATCH_SHAPES(BATCH_SHAPE_ENUM)
#undef BATCH_SHAPE_ENUM
	BATCH_NSHAPES
};

/* How a tuple or list holds its first element: HOLDER(name, before it, behind it). A list that begins with an integer
 * is not looked into: it may be a string. */
#define BATCH_HOLDERS(HOLDER)                                                                      \
	HOLDER(TUPLE_OF_ONE, "{", "}")                                                             \
	HOLDER(TUPLE_OF_MORE, "{", ",...}")                                                        \
	HOLDER(LIST_OF_ONE, "[", "]")                                                              \
	HOLDER(LIST_OF_MORE, "[", "|...]")                                                         \
	HOLDER(RETURNED, "{", ",return,...}") /* {Reference, return, _}: how a process of erpc hands its result over */

enum batch_holder {
	BATCH_NO_HOLDER,
#define BATCH_HOLDER_ENUM(name, before, behind) BATCH_##name,
	BATCH_HOLDERS(BATCH_HOLDER_ENUM)
#undef BATCH_HOLDER_ENUM
	BATCH_NHOLDERS
};

enum {
	BATCH_SMALL_MAX = 999, /* integers up to here, and from its negative on, are told by their value */
	BATCH_HOLDERS_MAX = 2, /* tuples and lists that are looked into */
};

#endif
