/* SPDX-License-Identifier: Apache-2.0 */
/* A plain array of strings, which is searched from its start: environments are short. */
#include "io/os_env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/lock.h"

static struct {
	struct lock lock;
	char **strings;      /* lock; NULL at the end */
	size_t count, room;  /* lock; of strings, room for the NULL included */
} own;

char *os_env_string(const char *name, const char *value)
{
	size_t n = strlen(name), k = value != NULL ? strlen(value) + 1 : 0;
	char *text = mem_alloc(n + 1 + k);

	memcpy(text, name, n + 1);
	if (value != NULL) {
		text[n] = '=';
		memcpy(text + n + 1, value, k);
	}
	return text;
}

/* Where name stands, or the NULL behind the last. */
static char **find(char **env, const char *name)
{
	size_t n = strlen(name);

	while (*env != NULL && !(strncmp(*env, name, n) == 0 && (*env)[n] == '='))
		env++;
	return env;
}

static void drop(char **at)
{
	char **last = at;

	if (*at == NULL)
		return;
	while (last[1] != NULL)
		last++;
	mem_free(*at);
	*at = *last;
	*last = NULL;
}

/* env has room. */
static void change(char **env, const char *name, const char *value)
{
	char **at = find(env, name);

	if (value == NULL) {
		drop(at);
		return;
	}
	if (*at == NULL)
		at[1] = NULL;
	mem_free(*at);
	*at = os_env_string(name, value);
}

void os_env_init(void)
{
	size_t n = 0;

	lock_init(&own.lock, LOCK_environment);
	while (environ[n] != NULL)
		n++;
	own.room = n + 1;
	own.strings = mem_zalloc(own.room * sizeof(char *));
	for (size_t i = 0; i < n; i++) {
		const char *equals = strchr(environ[i], '=');
		char *name;

		if (equals == NULL)
			continue;
		name = mem_strdup(environ[i]);
		name[equals - environ[i]] = 0;
		change(own.strings, name, equals + 1); /* of several the last counts, as in OTP */
		mem_free(name);
	}
	for (own.count = 0; own.strings[own.count] != NULL; own.count++)
		;
}

char *os_env_get(const char *name)
{
	char *value = NULL, *string;

	lock_acquire(&own.lock);
	string = *find(own.strings, name);
	if (string != NULL)
		value = mem_strdup(string + strlen(name) + 1);
	lock_release(&own.lock);
	return value;
}

void os_env_set(const char *name, const char *value)
{
	lock_acquire(&own.lock);
	if (own.count + 2 > own.room) {
		own.room = own.room * 2 + 16;
		own.strings = mem_realloc(own.strings, own.room * sizeof(char *));
	}
	change(own.strings, name, value);
	while (own.count > 0 && own.strings[own.count - 1] == NULL)
		own.count--;
	if (own.strings[own.count] != NULL)
		own.count++;
	lock_release(&own.lock);
}

char **os_env_copy(size_t room)
{
	char **env;

	lock_acquire(&own.lock);
	env = mem_zalloc((own.count + room + 1) * sizeof(char *));
	for (size_t i = 0; i < own.count; i++)
		env[i] = mem_strdup(own.strings[i]);
	lock_release(&own.lock);
	return env;
}

struct numbered {
	char *text;
	size_t number;
};

/* By name, then by number. */
static int compare_names(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	size_t n = strcspn(x->text, "="), k = strcspn(y->text, "=");
	int d = memcmp(x->text, y->text, n < k ? n : k);

	if (d != 0)
		return d;
	return n != k ? (n > k) - (n < k) : (x->number > y->number) - (x->number < y->number);
}

static bool is_same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return n == strcspn(b, "=") && memcmp(a, b, n) == 0;
}

void os_env_settle(char **env)
{
	struct numbered *all;
	size_t n = 0, left = 0;

	while (env[n] != NULL)
		n++;
	all = mem_alloc((n + 1) * sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = (struct numbered){ env[i], i };
	qsort(all, n, sizeof(*all), compare_names);
	for (size_t i = 0; i < n; i++) {
		char *text = all[i].text;

		if (strchr(text, '=') != NULL && (i + 1 == n || !is_same_name(text, all[i + 1].text)))
			env[left++] = text;
		else
			mem_free(text);
	}
	env[left] = NULL;
	mem_free(all);
}

void os_env_free(char **env)
{
	for (char **at = env; at != NULL && *at != NULL; at++)
		mem_free(*at);
	mem_free(env);
}

const char *os_env_peek(const char *name)
{
	const char *string;

	if (!lock_try(&own.lock))
		return NULL;
	string = *find(own.strings, name);
	lock_release(&own.lock);
	return string != NULL ? string + strlen(name) + 1 : NULL;
}
