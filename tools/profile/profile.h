/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks with how often they were seen, and the ways to write them: folded text, a flame graph
 * in SVG, and pprof's format. Names are untrusted; each writer escapes them.
 */
#ifndef TOOLS_PROFILE_H
#define TOOLS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum profile_kind { PROFILE_GROUP, PROFILE_ERLANG, PROFILE_NATIVE, PROFILE_KERNEL, PROFILE_NKINDS };

struct profile_frame {
    enum profile_kind kind;
    const char *name, *file; /* file: "" when not known */
    uint32_t line;           /* 0: not known */
    /* of an instruction of it, 0: none; no part of what tells frames apart: the first one seen is kept */
    uint64_t address;
};

/* What the values are: {"cpu", "nanoseconds"}. Literals. */
struct profile_units {
    const char *type, *unit;
    uint64_t period; /* of sampling, in the unit; 0: each event was seen */
};

struct profile;

/* Owns: free with profile_free. NULL: out of memory. */
struct profile *profile_new(const struct profile_units *units);
void profile_free(struct profile *profile);
/* Adds to the stack's count and value. `frames`: the root first, copied. Fails: -ENOMEM. */
int profile_add(struct profile *profile, const struct profile_frame *frames, size_t n, uint64_t count, uint64_t value);

const struct profile_units *profile_units(const struct profile *profile);

/* Different stacks, in the order of their first sight. */
struct profile_stack {
    const uint32_t *locations; /* numbers for profile_location, the root first */
    size_t n;
    uint64_t count, value;
};
size_t profile_stacks(const struct profile *profile);
struct profile_stack profile_stack(const struct profile *profile, size_t number);
/* Different frames: names, files and lines. */
size_t profile_locations(const struct profile *profile);
struct profile_frame profile_location(const struct profile *profile, size_t number);

/* Numbers of the stacks, those with the greatest values first. Owns: the caller frees *out. Fails: -ENOMEM. */
int profile_order(const struct profile *profile, uint32_t **out);

/*
 * Values by function (by line, with `lines`), in itself and with what it calls, a recursive one once; the greatest self
 * first.
 */
struct profile_function {
    struct profile_frame frame;
    uint64_t self, total;
};
/*
 * The `top` with the largest self and total together, that with the largest self first; groups are none. `whole`: all
 * values. Owns: the caller frees *out, after a failure too. Fails: -ENOMEM.
 */
int profile_functions(const struct profile *profile, bool lines, size_t top, struct profile_function **out, size_t *n,
                      uint64_t *whole);

/* All stacks as one tree; node 0 is the root and holds everything. */
struct profile_node {
    struct profile_frame frame;
    uint64_t self, total;       /* values; total: with what is called */
    uint32_t child, sibling;    /* numbers of nodes; 0: none. Siblings by name */
    uint32_t depth;
};
struct profile_tree {
    struct profile_node *nodes;
    size_t n;
};
/*
 * `lines`: frames of one function that differ by line stay apart. Borrows the profile's names. Owns: free with
 * profile_tree_free. Fails: -ENOMEM.
 */
int profile_tree_new(const struct profile *profile, bool lines, struct profile_tree *out);
void profile_tree_free(struct profile_tree *tree);

/* "lists:map/2", with `lines` "lists:map/2 (lists.erl:1239)", the file without its folder. Unescaped, cut. */
void profile_label(const struct profile_frame *frame, bool lines, char *out, size_t size);

/*
 * One line a stack, "root;caller;called value", as flamegraph.pl and speedscope read it. Fails: -ENOMEM; whether it
 * could be written is for whoever flushes `out` to say.
 */
int profile_write_folded(const struct profile *profile, bool lines, FILE *out);

/* What a file says beside the stacks. */
struct profile_about {
    const char *title;
    bool lines;       /* frames of one function that differ by line stay apart */
    uint64_t time_ns; /* when it began, since 1970 */
    uint64_t duration_ns;
};

/*
 * svg: one self-contained page: click to zoom, / to search. pprof: profile.proto of github.com/google/pprof, compressed
 * by gzip. Fail: -ENOMEM, or -errno of writing. No message.
 */
#define PROFILE_FILE(stem, text)                                                               \
    int profile_write_##stem(const struct profile *profile, const struct profile_about *about, FILE *out);
#include "profile_files.def"

#endif
