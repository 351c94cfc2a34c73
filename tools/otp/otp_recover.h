/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of an emulator that hides its symbols (OTP 29), found again by what the file must
 * keep: the tables of BIFs and NIFs with their names and code, the strings that a function
 * refers to, what it calls, what it imports, and the bounds of functions in the unwind tables.
 * Which of these single out a function is a row of otp_rules.def; a row that fits no function,
 * or two, finds nothing.
 * Source: the linked file; utils/make_tables and erl_nif.h of OTP for the shape of the tables.
 */
#ifndef TOOLS_OTP_RECOVER_H
#define TOOLS_OTP_RECOVER_H

#include "target/otp_image.h"

struct otp_recover;

/* Borrows the image. Fails: -ENOMEM; -ENOEXEC when there are no unwind tables. No message. */
int otp_recover_new(struct otp_image *image, struct otp_recover **out);
void otp_recover_free(struct otp_recover *recover);

/*
 * Where the function or object of this name is: a row of otp_rules.def, or a BIF by its C name
 * (spawn_3, ets_insert_2). *size is 0 for an object. Symbols of the image that bear the name are
 * not looked at. Fails: -ENOENT.
 */
int otp_recover_find(struct otp_recover *recover, const char *name, uint64_t *address, uint64_t *size);

#endif
