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
	*(void **)&info.tputs = dlsym(info.library, "tputs");
	return info.tgetent != NULL && info.tgetnum != NULL && info.tgetflag != NULL && info.tgetstr != NULL &&
	       info.tgoto != NULL && info.tputs != NULL;
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
