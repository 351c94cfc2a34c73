/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal can do, as the library libtinfo tells it: it is looked for when first needed, and the VM runs without
 * it. Locks: one question at a time, the library keeps what it found in variables of its own. */
#ifndef VM_TTY_TERM_INFO_H
#define VM_TTY_TERM_INFO_H

#include <stdbool.h>
#include <stddef.h>

/* The most bytes of what term_info_text and term_info_goto write. */
enum { TERM_INFO_BYTES = 1024 };

/* Chooses the terminal of that name. Fails: false: it is not known, or there is no libtinfo. */
bool term_info_choose(const char *name);
/* The capability of that two-letter name; -1 or false where there is none. */
int term_info_number(const char *name);
bool term_info_flag(const char *name);
/* Fails: false: there is none. *n bytes, without padding. */
bool term_info_text(const char *name, char *to, size_t *n);
/* The capability of terminfo's name. Fails: false; *is_name: there are such, but this terminal has none. */
bool term_info_string(const char *name, char *to, size_t *n, bool *is_name);
/* The capability's text with the parameters put in, without padding. Fails: false. */
enum { TERM_INFO_PARAMETERS = 9 };
bool term_info_put(const char *text, const long *parameters, unsigned count, char *to, size_t *n);
/* Names of all capabilities of a kind, by index. False: there are no more. */
enum term_info_kind { TERM_INFO_FLAGS, TERM_INFO_NUMBERS, TERM_INFO_STRINGS };
struct term_info_names {
	const char *name, *code, *full_name;
};
bool term_info_names(enum term_info_kind kind, size_t index, struct term_info_names *names);
/* The capability's text with the column and the row put in. Fails: false. */
bool term_info_goto(const char *text, int column, int row, char *to, size_t *n);

#endif
