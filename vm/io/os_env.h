/* SPDX-License-Identifier: Apache-2.0 */
/* The environment as Erlang sees and changes it, and as the programs it starts get it: a copy of the one that the VM
 * was started with. The C library's own stays as it was then, as OTP's does: os:putenv/2 cannot change the time zone
 * under a thread that reads it.
 * Invariant: each string is "Name=Value"; no name is there twice. */
#ifndef VM_IO_OS_ENV_H
#define VM_IO_OS_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* Once, when nobody sets variables of the C library's environment any more. */
void os_env_init(void);
/* The value. Owns: the caller (mem_free). NULL: not set. Any thread. */
char *os_env_get(const char *name);
/* value NULL: the variable is dropped. name has no '='. Any thread. */
void os_env_set(const char *name, const char *value);
/* All of it, NULL at the end, with room for so many strings more: "Name=Value", or "Name" alone for one to be dropped.
 * Owns: the caller, os_env_free. Any thread. */
char **os_env_copy(size_t room);
/* Such a string; value NULL: to be dropped. Owns: the caller. */
char *os_env_string(const char *name, const char *value);
/* A copy with strings added behind: of each name the last one stays. */
void os_env_settle(char **env);
void os_env_free(char **env);
/* As getenv, for who ends the VM: does not wait and takes no memory. */
const char *os_env_peek(const char *name);

#endif
