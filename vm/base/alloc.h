/* SPDX-License-Identifier: Apache-2.0 */
/* The only door to malloc. Exhaustion tells in one line, dumps (log_crash_dump) and aborts, except in the _try_
 * forms. */
#ifndef VM_BASE_ALLOC_H
#define VM_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Once, before anything else: heaps come and go, so blocks of up to 32 MB, and one larger one, are kept for
 * reuse instead of given back to the kernel. */
void mem_init(void);

/* What memory is for: it is counted by that. */
enum mem_kind {
	MEM_SYSTEM,
	/* Processes and their table, heaps, dictionaries, links, timers, what is sent to them: what OTP counts as
	 * `processes` (erl_alloc.c, erts_memory). */
	MEM_PROCESS,
	MEM_BINARY, /* counted binaries, and the references to resources of natives; not these resources */
	MEM_KINDS
};

/* Owns: the caller; release with mem_free, what is of a kind with mem_free_as: a debug build aborts on another one.
 * Never NULL. */
void *mem_alloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *mem_alloc_as(enum mem_kind kind, size_t bytes) __attribute__((malloc, returns_nonnull));
void *mem_zalloc_as(enum mem_kind kind, size_t bytes) __attribute__((malloc, returns_nonnull));
void *mem_zalloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *mem_realloc(void *ptr, size_t bytes) __attribute__((returns_nonnull));
char *mem_strdup(const char *text) __attribute__((malloc, returns_nonnull));
/* Fails: NULL when the memory cannot be had. For sizes that Erlang code chooses. */
void *mem_try_alloc(size_t bytes) __attribute__((malloc));
void *mem_try_alloc_as(enum mem_kind kind, size_t bytes) __attribute__((malloc));
void *mem_try_realloc(void *ptr, size_t bytes);
void *mem_try_realloc_as(enum mem_kind kind, void *ptr, size_t bytes);
/* Gives back the end of a block. Fails: false where a block cannot shrink without moving; it is then as it was. */
bool mem_shrink_in_place(enum mem_kind kind, void *ptr, size_t bytes);
void mem_free(void *ptr);
void mem_free_as(enum mem_kind kind, void *ptr);
/* Address space for the life of the VM, PROT_* as given, without memory behind it. Ends the VM with one line where it
 * is refused. */
void *mem_reserve(size_t bytes, int protection) __attribute__((returns_nonnull));
/* Whole pages of zeros, for the life of the VM. */
void *mem_map_as(enum mem_kind kind, size_t bytes) __attribute__((returns_nonnull));
/* They are zeros again, and given back to the system until somebody writes there. */
void mem_empty_as(enum mem_kind kind, void *pages, size_t bytes);
/* Pages that were emptied will be written. */
void mem_fill_as(enum mem_kind kind, size_t bytes);
/* Gives back to the system what was not needed for some calls of this. Once a second or so, from a thread of its own.
 * is_idle: nobody has needed any for some calls, so what is given back will not be missed soon.
 * Returns whether the next call may have something to give. */
bool mem_tidy(bool is_idle);
/* For parts of a reserved range: nobody may touch them until they are shown again. Only SAN=address notices who
 * does. */
void mem_hide(const void *at, size_t bytes);
void mem_show(const void *at, size_t bytes);

/* Units: bytes now held through this door, of all kinds or of one. No lock: what other threads do meanwhile is in it or
 * not. */
size_t mem_total_bytes(void);
size_t mem_kind_bytes(enum mem_kind kind);
/* How many blocks they are. */
size_t mem_kind_blocks(enum mem_kind kind);
/* Units: bytes that were obtained from the system for blocks, whether these are held or free, resident or not. It looks
 * at every free block. 0 where the C library's allocator is replaced (sanitizers). */
size_t mem_obtained_bytes(void);

#endif
