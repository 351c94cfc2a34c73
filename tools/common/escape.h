/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text from targets made harmless. Input ends at its NUL or after `limit` bytes; a NUL that belongs
 * to it stands as C0 80.
 */
#ifndef TOOLS_ESCAPE_H
#define TOOLS_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/*
 * For terminals: control characters, bytes that are no UTF-8, and characters that reorder
 * text become \xNN. Always terminated; cut at a whole escape. Returns columns used.
 */
size_t escape_text(char *out, size_t size, const char *in, size_t limit);
/* The inside of a JSON string; bytes that are no UTF-8 become \ufffd. */
size_t escape_json(char *out, size_t size, const char *in, size_t limit);
/* The inside of an Erlang string; bytes that are no UTF-8 become \x{fffd}. */
size_t escape_erlang(char *out, size_t size, const char *in, size_t limit);
/* As escape_text, printed as text or as the value of an attribute of XML and HTML; cut after some thousand bytes. */
void escape_xml(FILE *out, const char *in);

#endif
