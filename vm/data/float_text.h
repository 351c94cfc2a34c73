/* SPDX-License-Identifier: Apache-2.0 */
/* Floats as text and back, in Erlang's syntax. */
#ifndef VM_DATA_FLOAT_TEXT_H
#define VM_DATA_FLOAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Room that every form fits in with at most 253 decimals. */
#define FLOAT_TEXT_MAX 600

/* Each writes without NUL and returns the length. */
/* d.ddde+XX with that many decimals (0..249). */
size_t float_text_scientific(double d, int decimals, char *to);
/* ddd.ddd with that many decimals (0..253); compact drops zeros at the end, but the first. Fails: 0 when the magnitude
 * is too big for it. */
size_t float_text_decimals(double d, int decimals, bool compact, char *to);
/* The shortest text that reads back as d. */
size_t float_text_short(double d, char *to);
/* Reads [+-]digits.digits[e[+-]digits], the whole text. Fails: false on other syntax or a value that is not finite. */
bool float_text_read(const char *text, size_t n, double *d);
/* Units: characters at the start of text that make such a float; 0 for none. */
size_t float_text_span(const char *text, size_t n);

#endif
