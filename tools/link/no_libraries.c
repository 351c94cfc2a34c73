/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a static erlsnoop answers to who wants to load a library (libdw and otp_symbols.c: debuginfod): that there is
 * none. A library would bring a second libc into the process, maybe of another release. Linked with --wrap, and only
 * then.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlsym(void *library, const char *name);
int __wrap_dlclose(void *library);

void *__wrap_dlopen(const char *file, int mode)
{
    (void)file;
    (void)mode;
    return NULL;
}

void *__wrap_dlsym(void *library, const char *name)
{
    (void)library;
    (void)name;
    return NULL;
}

int __wrap_dlclose(void *library)
{
    (void)library;
    return -1;
}
