/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of an emulator that has no symbols: its static atoms, its BIFs, its static NIFs. */
#include "otp_recover_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BIF_CODE = 24, /* of a row of the BIF table: module, name, arity; then the code that is called, and the BIF's own */
    NIF_ROW = 32,  /* name, arity, code, flags */
    NIF_CODE = 16,
    MAX_NIFS = 1024,
    ATOM_TAG = 0x0b,
    ATOM_SHIFT = 6,
};

static bool is_string_at(const struct otp_recover *r, uint64_t address, const char *string)
{
    const char *found = otp_image_string(r->image, address);

    return found && !strcmp(found, string);
}

void otp_recover_find_atoms(struct otp_recover *r)
{
    const struct otp_reloc *relocs = r->image->relocs;

    for (size_t i = 0; i + 1 < r->image->nrelocs; i++)
        if (relocs[i + 1].at == relocs[i].at + 8 && !relocs[i].import && !relocs[i + 1].import &&
            is_string_at(r, relocs[i].address, "false") && is_string_at(r, relocs[i + 1].address, "true")) {
            r->atoms = i;
            r->has_atoms = true;
            return;
        }
}

uint64_t otp_recover_atom(const struct otp_recover *r, const char *name, size_t length)
{
    const struct otp_reloc *relocs = r->image->relocs;

    for (size_t i = r->atoms; r->has_atoms && i < r->image->nrelocs; i++) {
        uint64_t index = i - r->atoms;
        const char *string = relocs[i].import ? NULL : otp_image_string(r->image, relocs[i].address);

        if (relocs[i].at != relocs[r->atoms].at + 8 * index || !string)
            break;
        if (strlen(string) == length && !memcmp(string, name, length))
            return index << ATOM_SHIFT | ATOM_TAG;
    }
    return 0;
}

uint64_t otp_recover_bif(const struct otp_recover *r, uint64_t module, uint64_t function, unsigned arity)
{
    uint64_t found = 0;

    for (size_t i = 0; module && function && i + 1 < r->image->nrelocs; i++) {
        const struct otp_reloc *called = &r->image->relocs[i], *own = called + 1;
        const unsigned char *row = called->at >= BIF_CODE && own->at == called->at + 8 && !own->import
                                       ? otp_image_at(r->image, called->at - BIF_CODE, BIF_CODE)
                                       : NULL;
        uint64_t words[2];
        uint32_t row_arity;

        if (!row)
            continue;
        memcpy(words, row, sizeof words);
        memcpy(&row_arity, row + sizeof words, sizeof row_arity);
        if (words[0] != module || words[1] != function || row_arity != arity ||
            !otp_recover_function_at(r, own->address))
            continue;
        if (found && found != own->address)
            return 0;
        found = own->address;
    }
    return found;
}

static uint64_t nif_in_table(const struct otp_recover *r, uint64_t table, uint32_t n, const char *name, size_t length,
                             unsigned arity)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct otp_reloc *row = otp_image_reloc_at(r->image, table + i * NIF_ROW),
                               *code = otp_image_reloc_at(r->image, table + i * NIF_ROW + NIF_CODE);
        const char *string = row && !row->import ? otp_image_string(r->image, row->address) : NULL;
        const unsigned char *row_arity = otp_image_at(r->image, table + i * NIF_ROW + 8, 4);
        uint32_t value;

        if (!code || !string || !row_arity)
            return 0;
        memcpy(&value, row_arity, sizeof value);
        if (value == arity && strlen(string) == length && !memcmp(string, name, length))
            return code->address;
    }
    return 0;
}

/* An entry of a static NIF library: name of the module, number of NIFs, their table. */
static uint64_t nif_code(const struct otp_recover *r, const char *module, const char *name, size_t length,
                         unsigned arity)
{
    for (size_t i = 0; i + 1 < r->image->nrelocs; i++) {
        const struct otp_reloc *entry = &r->image->relocs[i], *table = entry + 1;
        const unsigned char *count = table->at == entry->at + 16 ? otp_image_at(r->image, entry->at + 8, 4) : NULL;
        uint32_t n;
        uint64_t code;

        if (!count || entry->import || table->import || !is_string_at(r, entry->address, module))
            continue;
        memcpy(&n, count, sizeof n);
        code = n <= MAX_NIFS ? nif_in_table(r, table->address, n, name, length, arity) : 0;
        if (code)
            return code;
    }
    return 0;
}

uint64_t otp_recover_mfa(const struct otp_recover *r, const char *mfa, const char *colon)
{
    const char *slash = strrchr(mfa, '/');
    char module[64];
    unsigned arity = slash ? (unsigned)atoi(slash + 1) : 0;
    size_t length = slash ? (size_t)(slash - colon - 1) : 0;
    uint64_t code;

    if (!slash || (size_t)(colon - mfa) >= sizeof module)
        return 0;
    snprintf(module, sizeof module, "%.*s", (int)(colon - mfa), mfa);
    code = otp_recover_bif(r, otp_recover_atom(r, module, strlen(module)),
                           otp_recover_atom(r, colon + 1, length), arity);
    return code ? code : nif_code(r, module, colon + 1, length, arity);
}
