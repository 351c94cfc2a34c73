/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: the environment and the operating system's process. Names and values are characters in Erlang,
 * and encoded as file names are outside. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bif/system/bif_info.h"
#include "io/filename.h"
#include "io/os_env.h"
#include "proc/os_signal.h"

/* A deep list of characters as the system's bytes. Owns: the caller, filename_text_free. Fails: false. */
static bool read_text(struct filename_text *text, Term t)
{
	return term_is_list(t) && filename_read(text, t, false);
}

static bool read_name(struct filename_text *name, Term t)
{
	if (!read_text(name, t))
		return false;
	if (memchr(name->bytes, '=', name->n) == NULL)
		return true;
	filename_text_free(name);
	return false;
}

/* Bytes that are not in the encoding are characters of Latin-1. */
static Term put_text(struct heap *h, const char *text, size_t n)
{
	Term t = filename_put(h, text, n);

	return t != TERM_NONE ? t : heap_list_bytes(h, text, n, NIL);
}

Term bif_os_getenv_1(Process *p, Term *args)
{
	struct filename_text name;
	char *value;
	Term result;

	if (!read_name(&name, args[0]))
		return exc_badarg(p);
	value = os_env_get(name.bytes);
	result = value != NULL ? put_text(&p->heap, value, strlen(value)) : am_false;
	mem_free(value);
	filename_text_free(&name);
	return result;
}

Term bif_os_putenv_2(Process *p, Term *args)
{
	struct filename_text name, value;
	bool ok;

	if (!read_name(&name, args[0]))
		return exc_badarg(p);
	ok = read_text(&value, args[1]);
	if (ok) {
		os_env_set(name.bytes, value.bytes);
		filename_text_free(&value);
	}
	filename_text_free(&name);
	return ok ? am_true : exc_badarg(p);
}

Term bif_os_unsetenv_1(Process *p, Term *args)
{
	struct filename_text name;

	if (!read_name(&name, args[0]))
		return exc_badarg(p);
	os_env_set(name.bytes, NULL);
	filename_text_free(&name);
	return am_true;
}

/* [{Name, Value}] */
Term bif_os_env_0(Process *p, Term *args)
{
	struct heap *h = &p->heap;
	char **env = os_env_copy(0);
	Term list = NIL;

	(void)args;
	for (char **e = env; *e != NULL; e++) {
		const char *equals = strchr(*e, '=');
		Term name = put_text(h, *e, (size_t)(equals - *e));

		list = heap_cons(h, heap_tuple(h, name, put_text(h, equals + 1, strlen(equals + 1))), list);
	}
	os_env_free(env);
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
