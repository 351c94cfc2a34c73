/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the search for an emulator's functions share: code and rules (otp_recover.c), tables
 * (otp_recover_tables.c). */
#ifndef TOOLS_OTP_RECOVER_TABLES_H
#define TOOLS_OTP_RECOVER_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "otp_recover.h"

struct span {
    uint64_t address, size;
};

/* `lea register, [rip + distance]` */
struct taken {
    uint64_t address, by;
};

struct otp_recover {
    struct otp_image *image;
    const unsigned char *text;
    struct span *functions; /* by address */
    size_t nfunctions;
    struct taken *taken; /* by address */
    size_t ntaken;
    size_t atoms; /* the reloc of the first static atom's name */
    bool has_atoms;
    struct memo *memos; /* one a rule */
    uint64_t budget;
};

/* The function that starts at the address; NULL when none does. */
const struct span *otp_recover_function_at(const struct otp_recover *r, uint64_t address);

/* Before all that follows. The names of the static atoms stand one behind the other, and the first two are known. */
void otp_recover_find_atoms(struct otp_recover *r);
/* The static atom as a term, 0 when there is none of this name. */
uint64_t otp_recover_atom(const struct otp_recover *r, const char *name, size_t length);
/* The code of a BIF itself, not of what schedules it; 0 without one, or with two. */
uint64_t otp_recover_bif(const struct otp_recover *r, uint64_t module, uint64_t function, unsigned arity);
/* The code of "module:function/arity", a BIF or a static NIF; 0 without one. */
uint64_t otp_recover_mfa(const struct otp_recover *r, const char *mfa, const char *colon);

#endif
