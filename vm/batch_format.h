/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of events that a thread of erlvm hands over through the note erlang_batch:flush(page, bytes): the contract between
 * the VM and who reads batches. Includes only probes.def.
 *
 * A page is a struct batch_header, then records without gaps. A record is a header word and `words` further words of 8 bytes:
 *
 *   header word   bits 63..16 ticks since begin_ticks, bits 15..8 words that follow, bits 7..0 enum batch_event
 *   argument i    word i, in the form of its unit; words missing at the end are zeros, unless the probe has texts
 *   texts         behind all the arguments, in their order: the bytes of each, filled up with zeros to whole words
 *
 * Forms of the units of probes.def (numbers, never text but for `text`):
 *   pid, port, name   bits 63..60 enum batch_identity; a pid: number in bits 27..0, serial in bits 59..28; a port: its number;
 *                     a name: an atom's index. 0: nobody
 *   node              an atom's index + 1; 0: none
 *   mfa               module's index in bits 57..33, function's in bits 32..8, arity in bits 7..0. 0: unknown
 *   term              bits 63..56 enum batch_shape of the term, or of what is first in its first element's ... (three tuples deep at
 *                     most); bits 55..32 the arities of these tuples, 8 bits each (255: more), the outermost lowest; bits 31..0 an
 *                     atom's index + 1
 *   text              bytes
 *   all others        the number
 *
 * Atoms: BATCH_ATOM (index, bytes, then the name's bytes, UTF-8) precedes a thread's first event that holds the atom, and is told again
 * when somebody else begins to watch.
 * Time: ticks are CLOCK_MONOTONIC's nanoseconds or the processor's time stamp counter; the two pairs of the header say which.
 */
#ifndef VM_BATCH_FORMAT_H
#define VM_BATCH_FORMAT_H

#include <stdint.h>

#define BATCH_MAGIC 0x31425645u /* "EVB1": the form described here */

enum {
	BATCH_PAGE_BYTES = 16384,
	BATCH_TEXT_BYTES = 1024, /* of one text at most */
	BATCH_INDEX_BITS = 25,   /* of an atom */
};

struct batch_header {
	uint32_t magic;
	uint32_t bytes;       /* of the page that are in use, this header among them */
	uint64_t sequence;    /* of the thread's pages, from 1: a gap is pages that nobody received */
	uint32_t thread;      /* numbered by the VM, from 1 */
	uint32_t tid;         /* as the kernel knows it */
	uint64_t begin_ticks, end_ticks; /* when the page was begun, and when it was handed over */
	uint64_t begin_ns, end_ns;       /* the same moments. Units: CLOCK_MONOTONIC */
};

enum batch_event {
	BATCH_ATOM,
#define PROBE(probe, family, nargs, watch, text) BATCH_##probe,
#define PROBE_RANGE(prefix, family, nargs, first, last, text) BATCH_##prefix,
#include "probes.def"
	BATCH_EVENTS
};
_Static_assert((int)BATCH_EVENTS <= 256, "an event's number has 8 bits");

enum batch_identity { BATCH_NOBODY, BATCH_PID, BATCH_PORT, BATCH_NAME, BATCH_REMOTE };

enum batch_shape {
	BATCH_NO_TERM, BATCH_SHAPE_ATOM, BATCH_SHAPE_TUPLE, BATCH_SHAPE_INTEGER, BATCH_SHAPE_FLOAT, BATCH_SHAPE_LIST, BATCH_SHAPE_MAP,
	BATCH_SHAPE_BITSTRING, BATCH_SHAPE_PID, BATCH_SHAPE_PORT, BATCH_SHAPE_REFERENCE, BATCH_SHAPE_FUN,
};

#endif
