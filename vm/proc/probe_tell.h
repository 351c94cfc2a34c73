/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PROBE_TELL(probe, values...): one event, told in both forms from the same values, to those who watch each: the note
 * of provider erlang with texts, and a record of numbers in this thread's batch. What a value is follows from the unit
 * of its row in probes.def:
 *
 *   pid, caller, port, name, node, module, term   Term     (TERM_NONE: nobody, undefined)
 *   mfa                           struct mfa
 *   text                          const char *, NUL-terminated (NULL: empty)
 *   all others                    a number
 *
 * Each unit has three functions: probe_note_<unit> makes its text (into PROBE_TEXT_BYTES that live as long as the
 * event), or its number; probe_word_<unit> its word; probe_bytes_<unit> the bytes behind it.
 */
#ifndef VM_PROC_PROBE_TELL_H
#define VM_PROC_PROBE_TELL_H

#include <string.h>

#include "proc/batch.h"
#include "usdt.h"

/* <0.number.serial>, #Port<0.n>, an atom's text; other terms as print_term. */
const char *probe_term_text(char *text, Term t);
/* module:function/arity, kept by the thread until it has told of many others. */
const char *probe_mfa_text(struct mfa mfa);
/* A text as notes show it: cut with "..." to what PROBE_TEXT_BYTES holds, not inside a UTF-8 character. */
const char *probe_shown_text(char *cut, const char *text);
/* A node's name without quotes. */
const char *probe_node_text(char *cut, Term name);

typedef Term probe_value_id;
typedef struct mfa probe_value_mfa;
typedef const char *probe_value_text;
typedef Term probe_value_node_name;
typedef int64_t probe_value_number;

static inline const char *probe_note_id(char *text, Term t) { return probe_term_text(text, t); }
static inline const char *probe_note_mfa(char *text, struct mfa mfa) { return (void)text, probe_mfa_text(mfa); }
static inline const char *probe_note_node_name(char *cut, Term name) { return probe_node_text(cut, name); }
static inline const char *probe_note_text(char *cut, const char *text) { return probe_shown_text(cut, text); }
static inline int64_t probe_note_number(char *text, int64_t n) { return (void)text, n; }

static inline uint64_t probe_word_text(const char *text) { return text == NULL ? 0 : strnlen(text, BATCH_TEXT_BYTES); }
static inline uint64_t probe_word_number(int64_t n) { return (uint64_t)n; }

/* unit -> what its values are, how a note shows them, how a batch holds them */
#define TELL_UNIT(unit, value, word)                                                               \
    typedef probe_value_##value probe_value_of_##unit;                                             \
    static inline probe_note_type_##value probe_note_of_##unit(char *text, probe_value_##value v)  \
    {                                                                                              \
        return probe_note_##value(text, v);                                                        \
    }                                                                                              \
    static inline uint64_t probe_word_of_##unit(probe_value_##value v) { return word(v); }         \
    enum { probe_is_text_##unit = sizeof(probe_kind_##value) - 1 };
typedef const char *probe_note_type_id, *probe_note_type_mfa, *probe_note_type_text, *probe_note_type_node_name;
typedef int64_t probe_note_type_number;
typedef char probe_kind_id[1], probe_kind_mfa[1], probe_kind_number[1], probe_kind_node_name[1], probe_kind_text[2];

TELL_UNIT(pid, id, batch_identity)
TELL_UNIT(caller, id, batch_identity)
TELL_UNIT(port, id, batch_identity)
TELL_UNIT(name, id, batch_identity)
TELL_UNIT(node, node_name, batch_node)
TELL_UNIT(module, node_name, batch_node)
TELL_UNIT(term, id, batch_term)
TELL_UNIT(mfa, mfa, batch_mfa)
TELL_UNIT(text, text, probe_word_text)
TELL_UNIT(words, number, probe_word_number)
TELL_UNIT(bytes, number, probe_word_number)
TELL_UNIT(frames, number, probe_word_number)
TELL_UNIT(count, number, probe_word_number)
TELL_UNIT(ns, number, probe_word_number)
TELL_UNIT(flag, number, probe_word_number)
TELL_UNIT(errno, number, probe_word_number)
TELL_UNIT(efile_op, number, probe_word_number)
TELL_UNIT(none, number, probe_word_number)

#define ARG(probe, index, arg, type, unit)                                                         \
    typedef probe_value_of_##unit probe_value_##probe##_##index;                                   \
    enum { probe_is_text_##probe##_##index = probe_is_text_##unit };                               \
    static inline probe_type_##type probe_note_##probe##_##index(char *text, probe_value_of_##unit v) \
    {                                                                                              \
        return (probe_type_##type)probe_note_of_##unit(text, v);                                   \
    }                                                                                              \
    static inline uint64_t probe_word_##probe##_##index(probe_value_of_##unit v) { return probe_word_of_##unit(v); }
#include "probes.def"

/* A byte a text: the most that a probe has. */
struct tell_texts_of_none {
#define PROBE(probe, family, nargs, watch, text)                                                   \
    }                                                                                              \
    ;                                                                                              \
    struct tell_texts_of_##probe {
#define PROBE_RANGE(prefix, family, nargs, first, last, text) PROBE(prefix, family, nargs, NOTHING, text)
#define ARG(probe, index, arg, type, unit) char arg[probe_is_text_##unit];
#include "probes.def"
};
union tell_texts {
#define PROBE(probe, family, nargs, watch, text) struct tell_texts_of_##probe probe;
#define PROBE_RANGE(prefix, family, nargs, first, last, text) PROBE(prefix, family, nargs, NOTHING, text)
#include "probes.def"
};
_Static_assert(8 * (BATCH_PLAIN_WORDS + sizeof(union tell_texts) * BATCH_TEXT_BYTES / 8) <=
                   BATCH_FULL_BYTES - sizeof(struct batch_header),
               "a page has no room for the longest record");

#define TELL_EACH_1(M, SEPARATOR, p) M(p, 0)
#define TELL_EACH_2(M, SEPARATOR, p) TELL_EACH_1(M, SEPARATOR, p) SEPARATOR() M(p, 1)
#define TELL_EACH_3(M, SEPARATOR, p) TELL_EACH_2(M, SEPARATOR, p) SEPARATOR() M(p, 2)
#define TELL_EACH_4(M, SEPARATOR, p) TELL_EACH_3(M, SEPARATOR, p) SEPARATOR() M(p, 3)
#define TELL_EACH_5(M, SEPARATOR, p) TELL_EACH_4(M, SEPARATOR, p) SEPARATOR() M(p, 4)
#define TELL_EACH_6(M, SEPARATOR, p) TELL_EACH_5(M, SEPARATOR, p) SEPARATOR() M(p, 5)
#define TELL_EACH_7(M, SEPARATOR, p) TELL_EACH_6(M, SEPARATOR, p) SEPARATOR() M(p, 6)
#define TELL_EACH_8(M, SEPARATOR, p) TELL_EACH_7(M, SEPARATOR, p) SEPARATOR() M(p, 7)
#define TELL_EACH_9(M, SEPARATOR, p) TELL_EACH_8(M, SEPARATOR, p) SEPARATOR() M(p, 8)
#define TELL_EACH_10(M, SEPARATOR, p) TELL_EACH_9(M, SEPARATOR, p) SEPARATOR() M(p, 9)
#define TELL_EACH_11(M, SEPARATOR, p) TELL_EACH_10(M, SEPARATOR, p) SEPARATOR() M(p, 10)
#define TELL_EACH_12(M, SEPARATOR, p) TELL_EACH_11(M, SEPARATOR, p) SEPARATOR() M(p, 11)
#define TELL_COMMA() ,
#define TELL_PLUS() +

#define TELL_VALUE(p, n, x) __attribute__((unused)) const probe_value_##p##_##n tell_v##n = (x); \
    __attribute__((unused)) char tell_text##n[PROBE_TEXT_BYTES];
#define TELL_VALUES_1(p, a) TELL_VALUE(p, 0, a)
#define TELL_VALUES_2(p, a, b) TELL_VALUES_1(p, a) TELL_VALUE(p, 1, b)
#define TELL_VALUES_3(p, a, b, c) TELL_VALUES_2(p, a, b) TELL_VALUE(p, 2, c)
#define TELL_VALUES_4(p, a, b, c, d) TELL_VALUES_3(p, a, b, c) TELL_VALUE(p, 3, d)
#define TELL_VALUES_5(p, a, b, c, d, e) TELL_VALUES_4(p, a, b, c, d) TELL_VALUE(p, 4, e)
#define TELL_VALUES_6(p, a, b, c, d, e, f) TELL_VALUES_5(p, a, b, c, d, e) TELL_VALUE(p, 5, f)
#define TELL_VALUES_7(p, a, b, c, d, e, f, g) TELL_VALUES_6(p, a, b, c, d, e, f) TELL_VALUE(p, 6, g)
#define TELL_VALUES_8(p, a, b, c, d, e, f, g, h) TELL_VALUES_7(p, a, b, c, d, e, f, g) TELL_VALUE(p, 7, h)
#define TELL_VALUES_9(p, a, b, c, d, e, f, g, h, i) TELL_VALUES_8(p, a, b, c, d, e, f, g, h) TELL_VALUE(p, 8, i)
#define TELL_VALUES_10(p, a, b, c, d, e, f, g, h, i, j) TELL_VALUES_9(p, a, b, c, d, e, f, g, h, i) TELL_VALUE(p, 9, j)
#define TELL_VALUES_11(p, a, b, c, d, e, f, g, h, i, j, k)                                                             \
	TELL_VALUES_10(p, a, b, c, d, e, f, g, h, i, j) TELL_VALUE(p, 10, k)
#define TELL_VALUES_12(p, a, b, c, d, e, f, g, h, i, j, k, l)                                                          \
	TELL_VALUES_11(p, a, b, c, d, e, f, g, h, i, j, k) TELL_VALUE(p, 11, l)

#define TELL_NOTE(p, n) probe_note_##p##_##n(tell_text##n, tell_v##n)
#define TELL_WORD(p, n) probe_word_##p##_##n(tell_v##n)
#define TELL_IS_TEXT(p, n) probe_is_text_##p##_##n
#define TELL_BYTES(p, n) __builtin_choose_expr(probe_is_text_##p##_##n, tell_v##n, NULL)

#define PROBE_TELL(probe, ...) PROBE_TELL_WITH(probe, batch_begin(), (void)0, __VA_ARGS__)
/* The same, with what begins the record, and what is done to its words (tell_words) when they are made. */
#define PROBE_TELL_WITH(probe, begin, adapt, ...)                                                  \
    PROBE_TELL_COUNTED(PROBE_COUNT(__VA_ARGS__), probe, begin, adapt, __VA_ARGS__)
#define PROBE_TELL_COUNTED(n, probe, begin, adapt, ...) PROBE_TELL_N(n, probe, begin, adapt, __VA_ARGS__)
#define PROBE_TELL_N(n, probe, begin, adapt, ...)                                                  \
    do {                                                                                           \
        TELL_VALUES_##n(probe, __VA_ARGS__)                                                        \
        uint64_t tell_ticks = PROBE_BATCHES(probe) ? (begin) : 0;                                  \
                                                                                                   \
        if (likely(tell_ticks != 0)) {                                                             \
            uint64_t tell_words[] = { TELL_EACH_##n(TELL_WORD, TELL_COMMA, probe) };               \
            const char *const tell_texts[] = { TELL_EACH_##n(TELL_BYTES, TELL_COMMA, probe) };     \
                                                                                                   \
            adapt;                                                                                 \
            if (TELL_EACH_##n(TELL_IS_TEXT, TELL_PLUS, probe))                                     \
                batch_write_texts(BATCH_##probe, tell_ticks, tell_words, n, tell_texts);           \
            else                                                                                   \
                batch_write(BATCH_##probe, tell_ticks, tell_words, n);                             \
        }                                                                                          \
        if (unlikely(PROBE_NOTES(probe)))                                                          \
            PROBE_FIRE(probe, TELL_EACH_##n(TELL_NOTE, TELL_COMMA, probe));                        \
    } while (0)

#endif
