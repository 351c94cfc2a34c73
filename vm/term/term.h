/* SPDX-License-Identifier: Apache-2.0 */
/* Terms: 64-bit tagged words, and the layouts of everything they point to.
 *
 * Low two bits: 00 header word (or, on a stack, a return address), 01 cons, 10 boxed, 11 immediate.
 * Immediates, low four bits: 0011 local pid, 0111 local port, 1111 small integer, 1011 others; of the
 * others, low six bits: 001011 atom, 011011 catch, 111011 nil.
 * A header word is `arity << 6 | subtag << 2`: arity = words that follow (except where said).
 * Invariant: a Term never points into the middle of an object; TERM_NONE (0) is no term. */
#ifndef VM_TERM_TERM_H
#define VM_TERM_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/release.h"

typedef uint64_t Term;

#define TERM_NONE ((Term)0)

enum { TAG_HEADER = 0, TAG_CONS = 1, TAG_BOXED = 2, TAG_IMMED = 3 };
enum { TAG_PID = 0x3, TAG_PORT = 0x7, TAG_OTHER = 0xb, TAG_SMALL = 0xf };
enum { TAG_ATOM = 0x0b, TAG_CATCH = 0x1b, TAG_NIL = 0x3b };

#define NIL ((Term)TAG_NIL)

/* Subtags of header words. */
enum subtag {
	SUB_TUPLE = 0,
	SUB_MATCH = 1,    /* match context, see struct match_ctx; elsewhere a mark that is no term */
	SUB_BIG_POS = 2,
	SUB_BIG_NEG = 3,
	SUB_REF = 4,      /* local reference */
	SUB_FUN = 5,      /* local fun: struct fun */
	SUB_FLOAT = 6,
	SUB_EXPORT = 7,   /* fun M:F/A: one word, an Export pointer */
	SUB_REFBIN = 8,   /* struct refbin: off-heap binary */
	SUB_HEAPBIN = 9,  /* struct heapbin */
	SUB_SUBBIN = 10,  /* struct subbin */
	SUB_MAP = 11,     /* struct flatmap, or a hash map node (see data/map.h) */
	SUB_XPID = 12,    /* struct extern_id */
	SUB_XPORT = 13,
	SUB_XREF = 14,
	SUB_RECORD = 15,  /* struct record */
};

static inline unsigned term_primary(Term t) { return t & 3; }
static inline bool term_is_cons(Term t) { return (t & 3) == TAG_CONS; }
static inline bool term_is_boxed(Term t) { return (t & 3) == TAG_BOXED; }
static inline bool term_is_immed(Term t) { return (t & 3) == TAG_IMMED; }
static inline bool term_is_header(Term t) { return (t & 3) == TAG_HEADER; }
/* The same of what an operation is of, which is no header: one bit tells. */
static inline bool operand_is_cons(Term t) { return (t & 2) == 0; }
static inline bool operand_is_boxed(Term t) { return (t & 1) == 0; }
static inline bool term_is_nil(Term t) { return t == NIL; }
static inline bool term_is_list(Term t) { return term_is_cons(t) || t == NIL; }
static inline bool term_is_atom(Term t) { return (t & 0x3f) == TAG_ATOM; }
static inline bool term_is_small(Term t) { return (t & 0xf) == TAG_SMALL; }
static inline bool term_is_local_pid(Term t) { return (t & 0xf) == TAG_PID; }
static inline bool term_is_local_port(Term t) { return (t & 0xf) == TAG_PORT; }

/* ---- pointers */
static inline Term *term_ptr(Term t) { return (Term *)(t & ~(Term)3); }
static inline Term *cons_ptr(Term t) { return (Term *)(t - TAG_CONS); }
static inline Term *boxed_ptr(Term t) { return (Term *)(t - TAG_BOXED); }
static inline Term term_from_cons(const Term *p) { return (Term)p + TAG_CONS; }
static inline Term term_from_boxed(const Term *p) { return (Term)p + TAG_BOXED; }

static inline Term cons_head(Term t) { return cons_ptr(t)[0]; }
static inline Term cons_tail(Term t) { return cons_ptr(t)[1]; }
/* Cells of a proper list; -1: it is improper, or none. */
static inline int64_t list_length(Term list)
{
	int64_t n = 0;

	for (; term_is_cons(list); list = cons_tail(list))
		n++;
	return list == NIL ? n : -1;
}

/* n words to where none of them stands. Few are copied in place: a call of memcpy would take longer. */
static inline void term_copy(Term *to, const Term *from, size_t n)
{
	if (n > 16) {
		memcpy(to, from, n * sizeof(Term));
		return;
	}
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

/* ---- headers */
#define HEADER(arity, sub) (((Term)(arity) << 6) | ((Term)(sub) << 2))
static inline size_t header_arity(Term h) { return h >> 6; }
static inline unsigned header_sub(Term h) { return (h >> 2) & 0xf; }
static inline bool term_has_sub(Term t, unsigned sub)
{
	return term_is_boxed(t) && header_sub(*boxed_ptr(t)) == sub;
}

/* ---- small integers: 60 bits */
#define SMALL_BITS 60
#define SMALL_MAX (((int64_t)1 << (SMALL_BITS - 1)) - 1)
#define SMALL_MIN (-((int64_t)1 << (SMALL_BITS - 1)))
#define SMALL(n) (((Term)(n) << 4) | TAG_SMALL)
static inline Term term_from_small(int64_t n) { return ((Term)n << 4) | TAG_SMALL; }
static inline int64_t small_value(Term t) { return (int64_t)t >> 4; }
static inline bool small_fits(int64_t n) { return n <= SMALL_MAX && n >= SMALL_MIN; }
static inline bool terms_both_small(Term a, Term b) { return (a & b & 0xf) == TAG_SMALL; }

/* ---- atoms: index into the atom table */
#define ATOM_TERM(index) (((index) << 6) | TAG_ATOM)
static inline Term term_from_atom(uint32_t index) { return ((Term)index << 6) | TAG_ATOM; }
static inline uint32_t atom_index(Term t) { return (uint32_t)(t >> 6); }

/* ---- local pids and ports: `serial << 32 | number << 4 | tag`; number < 2^28, printed <0.number.serial> */
#define ID_NUMBER_BITS 28
static inline Term term_from_pid(uint32_t number, uint32_t serial)
{
	return ((Term)serial << 32) | ((Term)number << 4) | TAG_PID;
}
static inline Term term_from_port(uint64_t number) { return ((Term)number << 4) | TAG_PORT; }
static inline uint32_t pid_number(Term t) { return (t >> 4) & ((1u << ID_NUMBER_BITS) - 1); }
static inline uint32_t pid_serial(Term t) { return (uint32_t)(t >> 32); }
static inline uint64_t port_number(Term t) { return t >> 4; }

/* ---- tuples: header arity = elements */
static inline bool term_is_tuple(Term t) { return term_has_sub(t, SUB_TUPLE); }
static inline size_t tuple_arity(Term t) { return header_arity(*boxed_ptr(t)); }
/* Units: index from 1, as element/2. */
static inline Term tuple_get(Term t, size_t index) { return boxed_ptr(t)[index]; }
static inline bool term_is_tuple_of(Term t, size_t arity)
{
	return term_is_boxed(t) && *boxed_ptr(t) == HEADER(arity, SUB_TUPLE);
}

/* ---- bignums: header arity = 64-bit limbs, least significant first, the highest not zero (GMP's mpn order).
 * A value that fits a small is never a bignum. */
static inline bool term_is_big(Term t)
{
	return term_is_boxed(t) && (header_sub(*boxed_ptr(t)) & ~1u) == SUB_BIG_POS;
}
static inline bool term_is_integer(Term t) { return term_is_small(t) || term_is_big(t); }

/* ---- floats: one word, an IEEE double, finite */
#define FLOAT_WORDS 2
static inline bool term_is_float(Term t) { return term_has_sub(t, SUB_FLOAT); }
static inline double float_value(Term t)
{
	union { Term w; double d; } u = { .w = boxed_ptr(t)[1] };
	return u.d;
}
static inline Term float_put(Term *at, double d)
{
	union { double d; Term w; } u = { .d = d };
	at[0] = HEADER(1, SUB_FLOAT);
	at[1] = u.w;
	return term_from_boxed(at);
}
static inline bool term_is_number(Term t) { return term_is_integer(t) || term_is_float(t); }

/* ---- local references: 64 bits of number, or, when `magic` is set, a resource kept by the off-heap list */
struct ref {
	Term header;         /* HEADER(REF_WORDS - 1, SUB_REF) */
	uint64_t number;     /* unique in the VM's life, from 1; bits 63..62 zero */
	uint64_t tag;        /* of an alias or a process-bound ref: the pid; otherwise 0 */
};
struct resource;
struct magic_ref {
	Term header;         /* HEADER(MAGIC_WORDS - 1, SUB_REF) */
	uint64_t number;
	uint64_t tag;        /* 0 */
	Term *next;          /* off-heap list of its heap (header pointer of the next object) */
	struct resource *resource; /* counted */
};
#define REF_WORDS (sizeof(struct ref) / sizeof(Term))
#define MAGIC_WORDS (sizeof(struct magic_ref) / sizeof(Term))
static inline bool term_is_local_ref(Term t) { return term_has_sub(t, SUB_REF); }

/* ---- funs */
struct fun_entry;        /* code/fun.h; never freed */
struct export;           /* code/export.h; never freed */
struct fun {
	Term header;         /* HEADER(FUN_WORDS - 1 + num_free, SUB_FUN) */
	struct fun_entry *entry;
	uint64_t shape;      /* arity (without the free variables) << 32 | num_free */
	Term creator;        /* pid; fun_creator says who is told as that */
	Term env[];          /* num_free terms */
};
#define FUN_WORDS (sizeof(struct fun) / sizeof(Term))
/* The terms of a fun start at this word (creator, env...). */
#define FUN_FIRST_TERM 3
static inline struct fun *fun_ptr(Term t) { return (struct fun *)boxed_ptr(t); }
/* Who is told to have made it: init, the first process, of all of them where the release tells no other. */
static inline Term fun_creator(const struct fun *f)
{
	return release_hides_creators() ? term_from_pid(0, 0) : f->creator;
}
static inline unsigned fun_arity(const struct fun *f) { return (unsigned)(f->shape >> 32); }
static inline unsigned fun_num_free(const struct fun *f) { return (unsigned)f->shape; }
#define EXPORT_FUN_WORDS 2
static inline struct export *export_fun_ptr(Term t) { return (struct export *)boxed_ptr(t)[1]; }
static inline bool term_is_fun(Term t) { return term_has_sub(t, SUB_FUN) || term_has_sub(t, SUB_EXPORT); }

/* ---- binaries. HEAPBIN_LIMIT bytes or less stand on the heap. All reads go through data/binary.h. */
#define HEAPBIN_LIMIT 64
struct heapbin {
	Term header;         /* arity = 1 + words of data */
	uint64_t size_bytes;
	uint8_t data[];
};
struct binary;           /* heap/refbin.h: counted bytes */
struct refbin {
	Term header;         /* HEADER(REFBIN_WORDS - 1, SUB_REFBIN) */
	uint64_t size_bytes;
	Term *next;          /* off-heap list of its heap */
	struct binary *binary; /* counted */
	uint8_t *bytes;      /* first byte, inside binary */
	uint64_t flags;      /* REFBIN_* */
};
/* WRITABLE: binary has room behind size_bytes (data/bits.h), nobody holds a pointer to its bytes.
 * ACTIVE_WRITER: appended to since the last collection; one that finds it clear trims the room. */
enum { REFBIN_WRITABLE = 1, REFBIN_ACTIVE_WRITER = 2 };
#define REFBIN_WORDS (sizeof(struct refbin) / sizeof(Term))
struct subbin {
	Term header;         /* HEADER(SUBBIN_WORDS - 1, SUB_SUBBIN) */
	uint64_t size_bytes; /* whole bytes */
	uint64_t offset_bytes;
	uint8_t bit_size;    /* bits after the whole bytes, 0..7 */
	uint8_t bit_offset;  /* bits before the first, 0..7 */
	uint8_t writable;    /* the original is a writable refbin and this its newest end */
	uint8_t pad[5];
	Term original;       /* a heapbin or refbin term; never a subbin */
};
#define SUBBIN_WORDS (sizeof(struct subbin) / sizeof(Term))
/* The one term word of a subbin. */
#define SUBBIN_TERM 4
static inline bool term_is_bitstring(Term t)
{
	return term_is_boxed(t) && header_sub(*boxed_ptr(t)) - SUB_REFBIN <= SUB_SUBBIN - SUB_REFBIN;
}

/* ---- match contexts: made by bs_start_match, never seen by Erlang code */
struct match_ctx {
	Term header;         /* HEADER(MATCH_WORDS - 1, SUB_MATCH) */
	Term original;       /* a heapbin or refbin term */
	uint8_t *base;       /* first byte of the original; a heapbin's moves: set again by the collector */
	uint64_t offset_bits; /* from base */
	uint64_t end_bits;   /* from base */
};
#define MATCH_WORDS (sizeof(struct match_ctx) / sizeof(Term))
#define MATCH_TERM 1

/* ---- maps. Flat up to MAP_FLAT_MAX pairs: header arity 2+n... see struct. Hash maps: data/map.h.
 * Bits 6..7 of the header (the arity's lowest two) tell the kind; the rest is the kind's own. */
#define MAP_FLAT_MAX 32
enum { MAP_FLAT = 0, MAP_NODE_BITMAP = 1, MAP_HEAD_ARRAY = 2, MAP_HEAD_BITMAP = 3 };
/* header = val << 8 | kind << 6 | SUB_MAP << 2.
 * flat:        val = n pairs;      words: header, keys tuple (sorted by the order of terms, exact), n values
 * node bitmap: val = 16-bit map;   words: header, popcount(map) children
 * head bitmap: val = 16-bit map;   words: header, size (raw count), popcount(map) children
 * head array:  val = 0xffff;       words: header, size (raw count), 16 children */
#define MAP_HEADER(kind, val) (((Term)(val) << 8) | ((Term)(kind) << 6) | ((Term)SUB_MAP << 2))
static inline unsigned map_kind(Term header) { return (header >> 6) & 3; }
static inline size_t map_val(Term header) { return header >> 8; }
/* Bits set of 16: without the instruction, which not every x86-64 has, the compiler would call a function. */
static inline unsigned map_ways(uint32_t n)
{
	n -= n >> 1 & 0x5555;
	n = (n & 0x3333) + (n >> 2 & 0x3333);
	n = (n + (n >> 4)) & 0x0f0f;
	return (n + (n >> 8)) & 0x1f;
}
static inline bool term_is_map(Term t) { return term_has_sub(t, SUB_MAP); }
struct flatmap {
	Term header;
	Term keys;           /* a tuple, shared between maps with the same keys */
	Term values[];
};

/* ---- native records, of OTP 29. The definition is a tuple, which Erlang code never sees: see data/record.h. */
struct record {
	Term header;         /* HEADER(1 + fields, SUB_RECORD) */
	Term definition;
	Term values[];
};
static inline bool term_is_record(Term t) { return term_has_sub(t, SUB_RECORD); }

/* ---- external pids, ports, references: of other nodes, or of an earlier life of this one */
struct node;             /* term/node.h; counted */
struct extern_id {
	Term header;         /* HEADER(2 + words, SUB_XPID | SUB_XPORT | SUB_XREF) */
	Term *next;          /* off-heap list of its heap */
	struct node *node;   /* counted */
	/* pid: number, serial; port: low, high half; ref: how many ids follow, 1..5, and these; 0 fills the last
	 * word */
	uint32_t ids[];
};
static inline bool term_is_pid(Term t) { return term_is_local_pid(t) || term_has_sub(t, SUB_XPID); }
static inline bool term_is_port(Term t) { return term_is_local_port(t) || term_has_sub(t, SUB_XPORT); }
static inline bool term_is_ref(Term t) { return term_has_sub(t, SUB_REF) || term_has_sub(t, SUB_XREF); }

/* ---- catches on the stack: where the handler's code is, a multiple of 8 */
static inline Term term_from_catch(const void *handler) { return ((Term)handler >> 3) << 6 | TAG_CATCH; }
static inline bool term_is_catch(Term t) { return (t & 0x3f) == TAG_CATCH; }
static inline const void *catch_handler(Term t) { return (const void *)((t >> 6) << 3); }

#endif
