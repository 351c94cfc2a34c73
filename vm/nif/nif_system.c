/* SPDX-License-Identifier: Apache-2.0 */
/* What else a library asks for: other libraries, the environment of the VM, facts about it, texts with terms in
 * them. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/print.h"
#include "io/library_info.h"
#include "nif/nif_env.h"

static void tell_error(void (*handler)(void *arg, const char *text), void *arg)
{
	const char *why = dlerror();

	if (handler != NULL)
		handler(arg, why != NULL ? why : "unknown error");
}

/* path: without .so */
void *enif_dlopen(const char *path, void (*handler)(void *arg, const char *text), void *arg)
{
	size_t n = strlen(path);
	char *full = mem_alloc(n + sizeof(".so"));
	void *handle;

	memcpy(full, path, n);
	memcpy(full + n, ".so", sizeof(".so"));
	handle = dlopen(full, RTLD_NOW);
	if (handle == NULL)
		tell_error(handler, arg);
	mem_free(full);
	return handle;
}

void *enif_dlsym(void *handle, const char *symbol, void (*handler)(void *arg, const char *text), void *arg)
{
	void *at = dlsym(handle, symbol);

	if (at == NULL)
		tell_error(handler, arg);
	return at;
}

void enif_system_info(struct library_info *to, size_t bytes)
{
	library_info_get(to, bytes);
}

int enif_getenv(const char *name, char *to, size_t *room)
{
	return library_info_getenv(name, to, room);
}

/* ---- printf with %T, a term */

enum { SPEC_MAX = 64 };

static void put(struct print_buffer *b, const char *spec, ...)
{
	char few[512], *text = few;
	va_list args;
	int n;

	va_start(args, spec);
	n = vsnprintf(few, sizeof(few), spec, args);
	va_end(args);
	if (n >= (int)sizeof(few)) {
		text = mem_alloc((size_t)n + 1);
		va_start(args, spec);
		vsnprintf(text, (size_t)n + 1, spec, args);
		va_end(args);
	}
	if (n > 0)
		print_bytes(b, text, (size_t)n);
	if (text != few)
		mem_free(text);
}

/* The conversion at *at, '*' replaced by the number that is its argument, as a string of its own; *at goes behind it.
 * Returns its letter. */
static char read_spec(char spec[SPEC_MAX], const char **at, va_list *args)
{
	size_t n = 0;
	char c;

	spec[n++] = *(*at)++;
	do {
		c = *(*at)++;
		if (c == '*')
			n += (size_t)snprintf(spec + n, 12, "%d", va_arg(*args, int));
		else
			spec[n++] = c;
	} while (c != '\0' && strchr("0123456789.*-+ #hlLqjzt", c) != NULL && n < SPEC_MAX - 12);
	spec[n] = '\0';
	if (c == '\0')
		(*at)--;
	return c;
}

static void put_conversion(struct print_buffer *b, const char **at, va_list *args)
{
	char spec[SPEC_MAX], letter = read_spec(spec, at, args);

	switch (letter) {
	case 'T':
		print_term(b, va_arg(*args, Term));
		break;
	case 'd': case 'i': case 'u': case 'x': case 'X': case 'o':
		if (strpbrk(spec, "lqjzt") != NULL)
			put(b, spec, va_arg(*args, long));
		else
			put(b, spec, va_arg(*args, int));
		break;
	case 'c':
		put(b, spec, va_arg(*args, int));
		break;
	case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
		put(b, spec, va_arg(*args, double));
		break;
	case 's': case 'p':
		put(b, spec, va_arg(*args, void *));
		break;
	case '%':
		print_bytes(b, "%", 1);
		break;
	default:
		print_text(b, spec);
	}
}

static void put_all(struct print_buffer *b, const char *format, va_list from)
{
	va_list args;

	va_copy(args, from);
	while (*format != '\0') {
		size_t n = strcspn(format, "%");

		print_bytes(b, format, n);
		format += n;
		if (*format == '%')
			put_conversion(b, &format, &args);
	}
	va_end(args);
}

int enif_vsnprintf(char *to, size_t room, const char *format, va_list args)
{
	struct print_buffer b;
	size_t n, kept;

	print_buffer_init(&b, 0);
	put_all(&b, format, args);
	n = b.used;
	kept = room > n ? n : room > 0 ? room - 1 : 0;
	if (room > 0) {
		memcpy(to, b.text, kept);
		to[kept] = '\0';
	}
	print_buffer_free(&b);
	return (int)n;
}

int enif_vfprintf(FILE *file, const char *format, va_list args)
{
	struct print_buffer b;
	size_t n;

	print_buffer_init(&b, 0);
	put_all(&b, format, args);
	n = fwrite(b.text, 1, b.used, file);
	print_buffer_free(&b);
	return (int)n;
}

int enif_snprintf(char *to, size_t room, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = enif_vsnprintf(to, room, format, args);
	va_end(args);
	return n;
}

int enif_fprintf(FILE *file, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = enif_vfprintf(file, format, args);
	va_end(args);
	return n;
}
