/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command line of `erl`: its arguments, those of the ERL_*FLAGS variables, and those of the files that
 * -args_file names.
 * Source: erl's manual page (erts, "erl"). */
#ifndef VM_ERL_WORDS_H
#define VM_ERL_WORDS_H

/* NULL stands behind the last one; `words` is NULL while there is none. Owns: the words. */
struct words {
	int count, room;
	char **words;
};

/* Copies the word. */
void words_add(struct words *w, const char *word);
/* Frees all of it. */
void words_clear(struct words *w);
/* How many there are before the NULL. */
int words_count(char **argv);
/* argv: without the program's name, ended by NULL. Adds in the order in which they count what stands before -extra to
 * *flags, and what stands behind one, which ends with its variable or file, to *plain. A variable's and a file's words
 * end with "--", as erl's do: where, the release says, of which only the root is to be looked for before it is known.
 * Fails: ends the program with a line that says why (a file that cannot be read). */
void erl_words_expand(char **argv, struct words *flags, struct words *plain);
/* Puts the words of the variable of this release (ERL_OTP25_FLAGS) before the others; a root that they name comes too
 * late. Fails likewise. */
void erl_words_put_release(struct words *flags, struct words *plain);

#endif
