/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of termcap, in libtinfo. */
#include "tty/term_info.h"

#include <dlfcn.h>
#include <string.h>

#include "base/lock.h"

static struct {
	struct lock lock;
	void *library;
	bool is_chosen;      /* a terminal is: the functions below are there */
	int (*tgetent)(char *unused, const char *name);
	int (*tgetnum)(const char *name);
	int (*tgetflag)(const char *name);
	char *(*tgetstr)(const char *name, char **area);
	char *(*tgoto)(const char *text, int column, int row);
	char *(*tigetstr)(const char *name);
	char *(*tparm)(const char *text, long, long, long, long, long, long, long, long, long);
	int (*tputs)(const char *text, int lines, int (*put)(int c));
	char out[TERM_INFO_BYTES]; /* of tputs, which has no place for a pointer */
	size_t out_bytes;
} info = { .lock = LOCK_STATIC(term_info) };

static bool find_functions(void)
{
	if (info.library == NULL)
		info.library = dlopen("libtinfo.so.6", RTLD_NOW | RTLD_LOCAL);
	if (info.library == NULL)
		return false;
	*(void **)&info.tgetent = dlsym(info.library, "tgetent");
	*(void **)&info.tgetnum = dlsym(info.library, "tgetnum");
	*(void **)&info.tgetflag = dlsym(info.library, "tgetflag");
	*(void **)&info.tgetstr = dlsym(info.library, "tgetstr");
	*(void **)&info.tgoto = dlsym(info.library, "tgoto");
	*(void **)&info.tigetstr = dlsym(info.library, "tigetstr");
	*(void **)&info.tparm = dlsym(info.library, "tparm");
	*(void **)&info.tputs = dlsym(info.library, "tputs");
	return info.tgetent != NULL && info.tgetnum != NULL && info.tgetflag != NULL && info.tgetstr != NULL &&
	       info.tgoto != NULL && info.tigetstr != NULL && info.tparm != NULL && info.tputs != NULL;
}

bool term_info_choose(const char *name)
{
	bool ok;

	lock_acquire(&info.lock);
	info.is_chosen = ok = find_functions() && info.tgetent(NULL, name) > 0;
	lock_release(&info.lock);
	return ok;
}

int term_info_number(const char *name)
{
	int n;

	lock_acquire(&info.lock);
	n = info.is_chosen ? info.tgetnum(name) : -1;
	lock_release(&info.lock);
	return n;
}

bool term_info_flag(const char *name)
{
	bool is;

	lock_acquire(&info.lock);
	is = info.is_chosen && info.tgetflag(name) > 0;
	lock_release(&info.lock);
	return is;
}

bool term_info_text(const char *name, char *to, size_t *n)
{
	const char *found;

	lock_acquire(&info.lock);
	found = info.is_chosen ? info.tgetstr(name, NULL) : NULL;
	*n = found != NULL ? strnlen(found, TERM_INFO_BYTES) : 0;
	memcpy(to, found != NULL ? found : "", *n);
	lock_release(&info.lock);
	return found != NULL;
}

static int put_out(int c)
{
	if (info.out_bytes < sizeof(info.out))
		info.out[info.out_bytes++] = (char)c;
	return c;
}

bool term_info_goto(const char *text, int column, int row, char *to, size_t *n)
{
	const char *moved;

	lock_acquire(&info.lock);
	moved = info.is_chosen ? info.tgoto(text, column, row) : NULL;
	info.out_bytes = 0;
	if (moved != NULL)
		info.tputs(moved, 1, put_out);
	*n = info.out_bytes;
	memcpy(to, info.out, *n);
	lock_release(&info.lock);
	return moved != NULL;
}

bool term_info_string(const char *name, char *to, size_t *n, bool *is_name)
{
	const char *found;
	bool is;

	lock_acquire(&info.lock);
	found = info.is_chosen ? info.tigetstr(name) : NULL;
	*is_name = found != (const char *)-1;
	is = found != NULL && *is_name;
	*n = is ? strnlen(found, TERM_INFO_BYTES) : 0;
	memcpy(to, is ? found : "", *n);
	lock_release(&info.lock);
	return is;
}

/* Parameters are numbers: what would take one for the address of a text is not put in. */
static bool wants_text(const char *text)
{
	return strstr(text, "%s") != NULL || strstr(text, "%l") != NULL;
}

bool term_info_put(const char *text, const long *p, unsigned count, char *to, size_t *n)
{
	const char *filled = text;

	lock_acquire(&info.lock);
	if (!info.is_chosen || (count > 0 && wants_text(text)))
		filled = NULL;
	else if (count > 0)
		filled = info.tparm(text, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]);
	info.out_bytes = 0;
	if (filled != NULL)
		info.tputs(filled, 1, put_out);
	*n = info.out_bytes;
	memcpy(to, info.out, *n);
	lock_release(&info.lock);
	return filled != NULL;
}

bool term_info_names(enum term_info_kind kind, size_t index, struct term_info_names *names)
{
	static const struct {
		const char *names, *codes, *full_names;
	} tables[] = {
		[TERM_INFO_FLAGS] = { "boolnames", "boolcodes", "boolfnames" },
		[TERM_INFO_NUMBERS] = { "numnames", "numcodes", "numfnames" },
		[TERM_INFO_STRINGS] = { "strnames", "strcodes", "strfnames" },
	};
	const char *const *name = NULL, *const *code = NULL, *const *full_name = NULL;

	lock_acquire(&info.lock);
	if (find_functions()) {
		name = dlsym(info.library, tables[kind].names);
		code = dlsym(info.library, tables[kind].codes);
		full_name = dlsym(info.library, tables[kind].full_names);
	}
	lock_release(&info.lock);
	if (name == NULL || code == NULL || full_name == NULL || name[index] == NULL || code[index] == NULL ||
	    full_name[index] == NULL)
		return false;
	*names = (struct term_info_names){ name[index], code[index], full_name[index] };
	return true;
}
