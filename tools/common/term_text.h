/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atoms, functions and the shapes of terms as Erlang prints them, from what is known of them by number. Modules of
 * Elixir and their functions are spelled as Elixir does: My.Agent, My.Agent.update/2.
 */
#ifndef TOOLS_TERM_TEXT_H
#define TOOLS_TERM_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "wire_user.h"

/* A text that grows within its room: what does not fit is cut. Always terminated once something was added. */
struct term_text {
    char *bytes;
    size_t size, used;
};

void term_text_add(struct term_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `atom`: its text, untrusted, in which a NUL stands as C0 80; NULL: not known, then its index is told. */
void term_text_atom(struct term_text *t, const char *atom, uint64_t index);
/* What stands behind a module's name, before its function: `module` as of term_text_atom. */
void term_text_separator(struct term_text *t, const char *module);
/* The name of a function of that module; both as of term_text_atom. */
void term_text_function(struct term_text *t, const char *module, const char *function, uint64_t index);
/* An atom or a function that a VM printed (untrusted, as Erlang spells it), or that somebody typed, spelled as
 * above. */
void term_text_respell(struct term_text *t, const char *printed);
/* Arities from 255 on are not known. */
void term_text_arity(struct term_text *t, uint64_t arity);
/*
 * What stands before and behind the first element of tuples and lists (enum batch_holder, 8 bits each, the outermost
 * lowest).
 */
void term_text_open(struct term_text *t, uint64_t holders);
void term_text_close(struct term_text *t, uint64_t holders);
/* A term of that shape which is told by its kind alone. */
void term_text_shape(struct term_text *t, uint64_t shape);

#endif
