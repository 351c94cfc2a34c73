/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the modules of a stock emulator are in its memory. In executable memory a module begins with its header, which
 * lists its functions; the emulator's own code that all functions share has none, and stands before the module that the
 * emulator makes of its own. A module's jumps to it stand between its header and its first function, since OTP 27
 * behind the last one. Source: BeamCodeHeader of OTP's beam_code.h; beamasm_init of jit/beam_jit_main.cpp; the memory
 * of VMs.
 */
#ifndef TOOLS_OTP_MODULES_H
#define TOOLS_OTP_MODULES_H

#include <stddef.h>

#include "otp_code.h"

enum { OTP_MODULE_HEADER = 512 }; /* bytes, at most */

struct otp_module {
    uint64_t start;      /* of the header */
    uint64_t name;       /* atom, as a term */
    uint64_t seen;       /* how often code had been purged when it was there */
    uint64_t *functions; /* n addresses of infos and the end, ascending */
    uint64_t ways;       /* where its jumps to shared code begin, which stand before the end; the end: it has none */
    size_t n;
    struct otp_lines *lines; /* NULL: not read yet */
    unsigned char header[OTP_MODULE_HEADER]; /* up to layout.functions */
};

struct otp_modules;

/* `memory` as of otp_code_new. Owns: otp_modules_free frees. NULL: out of memory. */
struct otp_modules *otp_modules_new(struct memory *memory, const struct otp_code_layout *layout);
void otp_modules_free(struct otp_modules *modules);
const struct otp_code_layout *otp_modules_layout(const struct otp_modules *modules);
/* Follows purges, and reads all modules there are. */
void otp_modules_follow(struct otp_modules *modules, const struct otp_code_purges *purges);
/* 0: none, or nobody counts. */
uint64_t otp_modules_purges(const struct otp_modules *modules);
/* Whether the module was in a purge after the first `seen`. */
bool otp_modules_purged(const struct otp_modules *modules, uint64_t name, uint64_t seen);
/*
 * The module whose functions hold the address, as it is in memory now; good until the next call. *kind says what holds
 * it else. Fails: NULL, with -ENOENT in *err when there is no code, -ESRCH when the memory cannot be read, 0 for code
 * of no module.
 */
struct otp_module *otp_modules_find(struct otp_modules *modules, uint64_t address, enum otp_code_kind *kind, int *err);
/* All bytes. Fails: -EFAULT. */
int otp_modules_read(const struct otp_modules *modules, uint64_t address, void *out, size_t size);
/*
 * Module, function and arity of the info at this address. Fails: -ESRCH when it cannot be read, -ENOENT when it is no
 * info.
 */
int otp_modules_read_mfa(const struct otp_modules *modules, uint64_t info, uint64_t *mfa);
/* The word of its header at this offset. */
uint64_t otp_module_word(const struct otp_module *module, size_t offset);

#endif
