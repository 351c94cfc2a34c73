/* SPDX-License-Identifier: Apache-2.0 */
/* An array of strings, searched from its start by the hashes of their names: environments are short. */
#include "io/os_env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"

struct variable {
	uint64_t hash;       /* of its name */
	char *string;
};
static struct {
	struct lock lock;
	struct variable *all; /* lock */
	size_t count, room;  /* lock */
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

/* NULL: it is not set. */
static struct variable *find(const char *name, size_t n)
{
	uint64_t hash = hash_bytes(name, n);

	for (struct variable *v = own.all, *end = v + own.count; v < end; v++)
		if (v->hash == hash && strncmp(v->string, name, n) == 0 && v->string[n] == '=')
			return v;
	return NULL;
}

static void add(uint64_t hash, char *string)
{
	if (own.count == own.room) {
		own.room = own.room * 2 + 16;
		own.all = mem_realloc(own.all, own.room * sizeof(*own.all));
	}
	own.all[own.count++] = (struct variable){ hash, string };
}

/* Takes: string, "Name=Value" with a name of n bytes; NULL: the variable is dropped. */
static void change(const char *name, size_t n, char *string)
{
	struct variable *v = find(name, n);
	char *before = v != NULL ? v->string : NULL;

	if (string != NULL && v == NULL)
		add(hash_bytes(name, n), string);
	else if (string != NULL)
		v->string = string;
	else if (v != NULL)
		*v = own.all[--own.count];
	mem_free(before);
}

void os_env_init(void)
{
	lock_init(&own.lock, LOCK_environment);
	for (char **e = environ; *e != NULL; e++) { /* of several of one name the last counts, as in OTP */
		const char *equals = strchr(*e, '=');

		if (equals != NULL)
			change(*e, (size_t)(equals - *e), mem_strdup(*e));
	}
}

char *os_env_get(const char *name)
{
	size_t n = strlen(name);
	char *value = NULL;
	const struct variable *v;

	lock_acquire(&own.lock);
	v = find(name, n);
	if (v != NULL)
		value = mem_strdup(v->string + n + 1);
	lock_release(&own.lock);
	return value;
}

void os_env_set(const char *name, const char *value)
{
	char *string = value != NULL ? os_env_string(name, value) : NULL;

	lock_acquire(&own.lock);
	change(name, strlen(name), string);
	lock_release(&own.lock);
}

char **os_env_copy(size_t room)
{
	char **env;

	lock_acquire(&own.lock);
	env = mem_zalloc((own.count + room + 1) * sizeof(char *));
	for (size_t i = 0; i < own.count; i++)
		env[i] = mem_strdup(own.all[i].string);
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
	size_t n = strlen(name);
	const struct variable *v;

	if (!lock_try(&own.lock))
		return NULL;
	v = find(name, n);
	lock_release(&own.lock);
	return v != NULL ? v->string + n + 1 : NULL;
}
