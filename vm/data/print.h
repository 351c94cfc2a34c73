/* SPDX-License-Identifier: Apache-2.0 */
/* Terms as text in the form of erlang:display/1, into a buffer that grows up to a limit.
 * Invariant: text[used] is NUL; used <= limit; text never ends inside a UTF-8 character. Depth costs no C stack. */
#ifndef VM_DATA_PRINT_H
#define VM_DATA_PRINT_H

#include "term/term.h"

struct print_buffer {
	char *text;
	size_t used, room;
	size_t limit;        /* most bytes of text */
	bool cut;            /* something did not fit; the text ends with "..." when limit allows */
	bool fixed;          /* text is the caller's, of room bytes */
};

/* Owns: the buffer, until print_buffer_free. limit_bytes 0: none. */
void print_buffer_init(struct print_buffer *b, size_t limit_bytes);
/* Prints into the caller's bytes (room at least 1), at most room - 1 characters and the NUL. */
void print_buffer_fixed(struct print_buffer *b, char *text, size_t room);
void print_buffer_free(struct print_buffer *b);

void print_bytes(struct print_buffer *b, const char *text, size_t n);
void print_text(struct print_buffer *b, const char *text);
void print_format(struct print_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void print_term(struct print_buffer *b, Term t);
/* An atom, quoted where Erlang's syntax asks for it. */
void print_atom(struct print_buffer *b, Term atom);
/* module:function/arity. */
void print_mfa(struct print_buffer *b, Term module, Term function, unsigned arity);
/* The term's text at text, cut with "..." to room - 1 bytes; returns its length. */
size_t print_term_fixed(char *text, size_t room, Term t);

#endif
