/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: the environment and the operating system's process. Names and values are characters in Erlang,
 * UTF-8 outside; bytes that are not UTF-8 are characters of Latin-1. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bif/bif_info.h"
#include "data/binary.h"
#include "data/utf8.h"
#include "proc/os_signal.h"

extern char **environ;

static struct {
	struct lock lock;    /* the C library's environment */
} os;

void bif_os_init(void)
{
	lock_init(&os.lock, LOCK_log);
}

static bool put_char(char **at, uint64_t c)
{
	if (c == 0 || !utf8_is_scalar(c))
		return false;
	*at += utf8_encode((uint32_t)c, (uint8_t *)*at);
	return true;
}

/* A flat list of characters, or a UTF-8 binary. Owns: the caller. Fails: NULL. */
static char *read_text(Term t)
{
	size_t n = 0;
	char *text, *at;

	for (Term l = t; term_is_cons(l); l = cons_tail(l))
		n++;
	if (term_is_binary(t)) {
		uint8_t *scratch;
		const uint8_t *bytes = binary_bytes(t, &n, &scratch);

		text = mem_alloc(n + 1);
		memcpy(text, bytes, n);
		text[n] = 0;
		mem_free(scratch);
		if (memchr(text, 0, n) == NULL)
			return text;
		mem_free(text);
		return NULL;
	}
	text = at = mem_alloc(n * UTF8_MAX_BYTES + 1);
	for (; term_is_cons(t); t = cons_tail(t)) {
		if (!term_is_small(cons_head(t)) || !put_char(&at, (uint64_t)small_value(cons_head(t)))) {
			mem_free(text);
			return NULL;
		}
	}
	*at = 0;
	if (t == NIL)
		return text;
	mem_free(text);
	return NULL;
}

static char *read_name(Term t)
{
	char *name = read_text(t);

	if (name != NULL && (name[0] == 0 || strchr(name, '=') != NULL)) {
		mem_free(name);
		return NULL;
	}
	return name;
}

static Term put_text(struct heap *h, const char *text, size_t n)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t chars;
	Term *at, list;

	if (utf8_valid_prefix(bytes, n, &chars) != n)
		return heap_list_bytes(h, text, n, NIL);
	if (chars == 0)
		return NIL;
	at = heap_alloc(h, 2 * chars);
	list = term_from_cons(at);
	for (size_t i = 0; i < n; at += 2) {
		uint32_t c;

		i += utf8_decode(bytes + i, n - i, &c);
		at[0] = SMALL((uint64_t)c);
		at[1] = i < n ? term_from_cons(at + 2) : NIL;
	}
	return list;
}

Term bif_os_getenv_1(Process *p, Term *args)
{
	char *name = read_name(args[0]);
	const char *value;
	Term result;

	if (name == NULL)
		return exc_badarg(p);
	lock_acquire(&os.lock);
	value = getenv(name);
	result = value != NULL ? put_text(&p->heap, value, strlen(value)) : am_false;
	lock_release(&os.lock);
	mem_free(name);
	return result;
}

Term bif_os_putenv_2(Process *p, Term *args)
{
	char *name = read_name(args[0]);
	char *value = read_text(args[1]);
	bool ok = name != NULL && value != NULL;

	if (ok) {
		lock_acquire(&os.lock);
		ok = setenv(name, value, 1) == 0;
		lock_release(&os.lock);
	}
	mem_free(name);
	mem_free(value);
	return ok ? am_true : exc_badarg(p);
}

Term bif_os_unsetenv_1(Process *p, Term *args)
{
	char *name = read_name(args[0]);

	if (name == NULL)
		return exc_badarg(p);
	lock_acquire(&os.lock);
	unsetenv(name);
	lock_release(&os.lock);
	mem_free(name);
	return am_true;
}

/* [{Name, Value}] */
Term bif_os_env_0(Process *p, Term *args)
{
	struct heap *h = &p->heap;
	Term list = NIL;

	(void)args;
	lock_acquire(&os.lock);
	for (char **e = environ; *e != NULL; e++) {
		const char *equals = strchr(*e, '=');
		Term name;

		if (equals == NULL)
			continue;
		name = put_text(h, *e, (size_t)(equals - *e));
		list = heap_cons(h, heap_tuple(h, name, put_text(h, equals + 1, strlen(equals + 1))), list);
	}
	lock_release(&os.lock);
	return list;
}

Term bif_os_getpid_0(Process *p, Term *args)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%d", (int)getpid());

	(void)args;
	return heap_list_bytes(&p->heap, text, (size_t)n, NIL);
}

Term bif_os_set_signal_2(Process *p, Term *args)
{
	enum os_signal_how how;

	if (args[1] == am_handle)
		how = OS_SIGNAL_HANDLE;
	else if (args[1] == am_ignore)
		how = OS_SIGNAL_IGNORE;
	else if (args[1] == am_default)
		how = OS_SIGNAL_DEFAULT;
	else
		return exc_badarg_cause(p, am_badopt);
	return os_signal_set(args[0], how) ? am_ok : exc_badarg(p);
}
