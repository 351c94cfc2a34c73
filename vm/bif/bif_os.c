/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: the environment and the operating system's process. Names and values are characters in Erlang, and encoded as file
 * names are outside. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bif/bif_info.h"
#include "io/filename.h"
#include "io/os_env.h"
#include "proc/os_signal.h"

/* A deep list of characters as the system's bytes. Owns: the caller. Fails: NULL. */
static char *read_text(Term t)
{
	size_t n;

	return term_is_list(t) ? filename_from_term(t, false, &n) : NULL;
}

static char *read_name(Term t)
{
	char *name = read_text(t);

	if (name != NULL && strchr(name, '=') != NULL) {
		mem_free(name);
		return NULL;
	}
	return name;
}

/* Bytes that are not in the encoding are characters of Latin-1. */
static Term put_text(struct heap *h, const char *text, size_t n)
{
	Term t = filename_put(h, text, n);

	return t != TERM_NONE ? t : heap_list_bytes(h, text, n, NIL);
}

Term bif_os_getenv_1(Process *p, Term *args)
{
	char *name = read_name(args[0]), *value;
	Term result;

	if (name == NULL)
		return exc_badarg(p);
	value = os_env_get(name);
	result = value != NULL ? put_text(&p->heap, value, strlen(value)) : am_false;
	mem_free(value);
	mem_free(name);
	return result;
}

Term bif_os_putenv_2(Process *p, Term *args)
{
	char *name = read_name(args[0]);
	char *value = read_text(args[1]);
	bool ok = name != NULL && value != NULL;

	if (ok)
		os_env_set(name, value);
	mem_free(name);
	mem_free(value);
	return ok ? am_true : exc_badarg(p);
}

Term bif_os_unsetenv_1(Process *p, Term *args)
{
	char *name = read_name(args[0]);

	if (name == NULL)
		return exc_badarg(p);
	os_env_set(name, NULL);
	mem_free(name);
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
