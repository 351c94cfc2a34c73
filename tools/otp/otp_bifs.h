/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in functions of an emulator, by the table that its file has of them: so they have names where the file has
 * no symbols. Source: BifEntry of OTP's erl_bif_table.h, the same from OTP 25 to 29.
 */
#ifndef TOOLS_OTP_BIFS_H
#define TOOLS_OTP_BIFS_H

#include "target/otp_image.h"

struct otp_bif {
    uint64_t function;     /* where it begins, an address of the link editor */
    uint64_t module, name; /* atoms by their index */
    unsigned arity;
};

/*
 * All of them, by address, each address once: what several names lead to has the first. None where no table is found.
 * Owns: the caller frees *out. Fails: -ENOMEM.
 */
int otp_bifs_find(struct otp_image *image, struct otp_bif **out, size_t *n);
/* The one that begins at the address; NULL: none does. */
const struct otp_bif *otp_bifs_at(const struct otp_bif *bifs, size_t n, uint64_t function);

#endif
