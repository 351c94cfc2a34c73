/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a function or an object of a stock emulator is. What is nearest is asked first: the
 * symbols of the file itself (.symtab, .dynsym), its separate debug file, found by build-id or
 * debug link and believed only when it is of the same build, debuginfod when the user's
 * environment names servers (DEBUGINFOD_URLS), and recovery from the code. Nothing is guessed:
 * a name that more than one place could bear is not found.
 */
#ifndef TOOLS_OTP_SYMBOLS_H
#define TOOLS_OTP_SYMBOLS_H

#include "target/otp_image.h"

struct otp_symbols;

enum otp_found {
    OTP_FOUND_SYMTAB,
    OTP_FOUND_DYNSYM,
    OTP_FOUND_DEBUG_FILE,
    OTP_FOUND_DEBUGINFOD,
    OTP_FOUND_RECOVERED,
};

struct otp_place {
    uint64_t address; /* virtual, of the link editor */
    uint64_t size;    /* bytes; 0: not known */
    enum otp_found found;
};

/*
 * `path`: the executable, such as /proc/PID/exe. `root`: the root of its file system, where its
 * debug files are looked for, such as /proc/PID/root; NULL: look for none.
 * Owns: the caller frees *out with otp_symbols_free. Fails: as otp_image_new. No message.
 */
int otp_symbols_new(const char *path, const char *root, struct otp_symbols **out);
void otp_symbols_free(struct otp_symbols *symbols);

/* `name` as nm prints it. Fails: -ENOENT when no source knows it, or one knows two. */
int otp_symbols_find(struct otp_symbols *symbols, const char *name, struct otp_place *out);
/* Whether the code itself tells another place of a function than the symbols do. */
bool otp_symbols_contradict(struct otp_symbols *symbols, const char *name, const struct otp_place *place);
/*
 * Whether calls go to other functions that the compiler made of this one (f.constprop.0, f.isra.0, f.part.0; optimising
 * when linking makes many): symbols name such a one, or nothing refers to the function.
 */
bool otp_symbols_is_bypassed(struct otp_symbols *symbols, const char *name, const struct otp_place *place);
/* The executable itself; borrowed. */
struct otp_image *otp_symbols_image(const struct otp_symbols *symbols);
/* "symbol table", "debug file", ... */
const char *otp_found_text(enum otp_found found);

#endif
