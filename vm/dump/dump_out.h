/* SPDX-License-Identifier: Apache-2.0 */
/* Where a crash dump is written to: a file, through a fixed buffer, never more bytes than were allowed.
 * Invariant: no function here allocates or takes a lock, but for dump_open_fd: memory may be exhausted, and other
 * threads may have stopped anywhere. */
#ifndef VM_DUMP_DUMP_OUT_H
#define VM_DUMP_DUMP_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fails: false (errno): it cannot be made. limit_bytes 0: none. */
bool dump_open(const char *path, uint64_t limit_bytes);
/* The same to an open descriptor, which dump_close leaves open. What this thread writes until then goes there, beside
 * what others do. */
void dump_open_fd(int fd);
/* Does the VM go on afterwards, as after dump_open_fd? Then others hold locks for a moment only. */
bool dump_vm_goes_on(void);
/* False when something could not be written, or the limit was reached (the file then says so at its end). */
bool dump_close(void);
void dump_bytes(const void *bytes, size_t n);
void dump_text(const char *text);
/* At most 1,023 bytes a call. */
void dump_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void dump_base64(const uint8_t *bytes, size_t n);

#endif
