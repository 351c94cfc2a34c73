/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a command line. Invariant: they keep their order; nothing is looked into behind -extra. */
#include "erl_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/release.h"
#include "code/code_path.h"
#include "erl_args.h"

enum { FILES_DEEP = 16 };

void words_add(struct words *w, const char *word)
{
	if (w->count + 1 >= w->room) {
		w->room = w->room * 2 + 64;
		w->words = mem_realloc(w->words, (size_t)w->room * sizeof(char *));
	}
	w->words[w->count++] = mem_strdup(word);
	w->words[w->count] = NULL;
}

void words_clear(struct words *w)
{
	for (int i = 0; i < w->count; i++)
		mem_free(w->words[i]);
	mem_free(w->words);
	*w = (struct words){ 0 };
}

int words_count(char **argv)
{
	int n = 0;

	while (argv[n] != NULL)
		n++;
	return n;
}

/* Where a variable's, a file's or the program's words go. */
struct source {
	struct words *flags, *plain;
	bool is_file, extra; /* extra: -extra was seen */
	unsigned deep;       /* files within files */
};

static void take_word(struct source *s, const char *word)
{
	if (!s->extra && strcmp(word, "-extra") == 0)
		s->extra = true;
	else
		words_add(s->extra ? s->plain : s->flags, word);
}

/* Behind the blanks and, in files, comments. */
static const char *skip_blank(const char *s, bool comments)
{
	for (;;) {
		while (isspace((unsigned char)*s))
			s++;
		if (!comments || *s != '#')
			return s;
		s += strcspn(s, "\n");
	}
}

/* The word at s: between quotes every character stands for itself, elsewhere a backslash takes the next one's meaning
 * away, and # begins a comment in files. Returns its end. to: where it goes, or NULL. */
static const char *scan_word(const char *s, bool comments, char *to)
{
	char quote = 0;

	for (; *s != 0 && (quote != 0 || !(isspace((unsigned char)*s) || (comments && *s == '#'))); s++) {
		if (quote == 0 && (*s == '"' || *s == '\'')) {
			quote = *s;
			continue;
		}
		if (quote != 0 && *s == quote) {
			quote = 0;
			continue;
		}
		if (quote == 0 && *s == '\\' && *++s == 0)
			break;
		if (to != NULL)
			*to++ = *s;
	}
	if (to != NULL)
		*to = 0;
	return s;
}

/* The next word of *text. Owns: the caller. NULL at the end. */
static char *next_word(const char **text, bool comments)
{
	const char *s = skip_blank(*text, comments);
	char *word;

	if (*s == 0)
		return NULL;
	*text = scan_word(s, comments, NULL);
	word = mem_alloc((size_t)(*text - s) + 1);
	scan_word(s, comments, word);
	return word;
}

static void expand_text(const char *text, struct source s);

static void expand_file(const char *name, const struct source *within)
{
	struct source s = { .flags = within->flags, .plain = within->plain, .is_file = true, .deep = within->deep + 1 };
	size_t n;
	uint8_t *bytes = name != NULL ? code_path_read(name, &n) : NULL;
	char *text;

	if (name == NULL)
		erl_args_fail("-args_file needs a file");
	if (bytes == NULL)
		erl_args_fail("cannot read the file of arguments %s", name);
	if (within->deep == FILES_DEEP)
		erl_args_fail("files of arguments name each other too deep: %s", name);
	text = mem_alloc(n + 1);
	memcpy(text, bytes, n);
	text[n] = 0;
	expand_text(text, s);
	mem_free(text);
	mem_free(bytes);
}

static bool names_file(const struct source *s, const char *word)
{
	return !s->extra && strcmp(word, "-args_file") == 0;
}

/* A text's words end with "--", and do not go on with the next one's. */
static void end_text(const struct source *s)
{
	if (!s->extra)
		words_add(s->flags, "--");
	else if (!release_ends_flags())
		words_add(s->plain, "--");
	else if (!s->is_file)
		words_add(s->flags, "--");
}

static void expand_text(const char *text, struct source s)
{
	char *word;

	while ((word = next_word(&text, s.is_file)) != NULL) {
		if (names_file(&s, word)) {
			char *name = next_word(&text, s.is_file);

			expand_file(name, &s);
			mem_free(name);
		} else {
			take_word(&s, word);
		}
		mem_free(word);
	}
	end_text(&s);
}

static bool has_words(const char *variable)
{
	const char *text = getenv(variable);

	return text != NULL && *skip_blank(text, false) != 0;
}

static void expand_variable(const char *name, struct words *flags, struct words *plain)
{
	if (has_words(name))
		expand_text(getenv(name), (struct source){ .flags = flags, .plain = plain });
}

static void expand_arguments(char **argv, struct source s)
{
	for (; *argv != NULL; argv++) {
		if (names_file(&s, *argv))
			expand_file(*++argv, &s);
		else
			take_word(&s, *argv);
	}
}

void erl_words_expand(char **argv, struct words *flags, struct words *plain)
{
	expand_variable("ERL_AFLAGS", flags, plain);
	expand_arguments(argv, (struct source){ .flags = flags, .plain = plain });
	if (has_words("ERL_FLAGS") || has_words("ERL_ZFLAGS"))
		words_add(flags, "--");
	expand_variable("ERL_FLAGS", flags, plain);
	expand_variable("ERL_ZFLAGS", flags, plain);
}

/* Moves the words of `from` behind those of *to. */
static void move_words(struct words *to, struct words *from)
{
	for (int i = 0; i < from->count; i++)
		words_add(to, from->words[i]);
	words_clear(from);
}

void erl_words_put_release(struct words *flags, struct words *plain)
{
	struct words first_flags = { 0 }, first_plain = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "ERL_OTP%s_FLAGS", release_current->text);
	if (!has_words(name))
		return;
	expand_variable(name, &first_flags, &first_plain);
	move_words(&first_flags, flags);
	move_words(&first_plain, plain);
	*flags = first_flags;
	*plain = first_plain;
}
