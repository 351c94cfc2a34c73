/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: what is read from the process is checked against the bounds of what holds it before
 * it is used as a count, an index or an order; a process that lies gets no name, or a wrong one.
 */
#include "otp_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "otp_lines.h"
#include "otp_modules.h"

enum { MAX_FOUND = 1 << 16, BUCKET_BITS = 13 };

/* What was found at an address in a moment of the memory, and since how many purges it is known to have been there. */
struct found {
    struct found *next;
    uint64_t address, moment, seen;
    int err;
    struct otp_code_place place;
};

struct otp_code {
    struct memory *memory;
    struct otp_modules *modules;
    struct found *found[1 << BUCKET_BITS];
    size_t nfound;
};

int otp_code_new(struct memory *memory, const struct otp_code_layout *layout, struct otp_code **out)
{
    struct otp_code *code = calloc(1, sizeof *code);

    if (!code)
        return -ENOMEM;
    code->memory = memory;
    code->modules = otp_modules_new(memory, layout);
    if (!code->modules) {
        free(code);
        return -ENOMEM;
    }
    *out = code;
    return 0;
}

static void forget_found(struct otp_code *code)
{
    for (size_t i = 0; i < 1 << BUCKET_BITS; i++) {
        while (code->found[i]) {
            struct found *found = code->found[i];

            code->found[i] = found->next;
            free(found);
        }
    }
    code->nfound = 0;
}

void otp_code_free(struct otp_code *code)
{
    if (!code)
        return;
    forget_found(code);
    otp_modules_free(code->modules);
    free(code);
}

void otp_code_follow(struct otp_code *code, const struct otp_code_purges *purges)
{
    otp_modules_follow(code->modules, purges);
}

/* ---- what was found */

static size_t bucket_of(uint64_t address)
{
    return (address * 0x9e3779b97f4a7c15u) >> (64 - BUCKET_BITS); /* 2^64 by the golden ratio */
}

/* NULL: nothing is kept of the address. */
static struct found *find_found(const struct otp_code *code, uint64_t address)
{
    struct found *found = code->found[bucket_of(address)];

    while (found && found->address != address)
        found = found->next;
    return found;
}

/* NULL: out of memory. */
static struct found *add_found(struct otp_code *code, uint64_t address)
{
    struct found *found = calloc(1, sizeof *found), **bucket = &code->found[bucket_of(address)];

    if (!found)
        return NULL;
    if (code->nfound == MAX_FOUND)
        forget_found(code);
    *found = (struct found){.next = *bucket, .address = address};
    *bucket = found;
    code->nfound++;
    return found;
}

/* ---- look-ups */

/* The function of the module that holds the address. */
static int find_function(struct otp_code *code, struct otp_module *m, uint64_t address, struct otp_code_place *out)
{
    size_t low = 0, high = m->n;
    uint64_t mfa[3];
    int err;

    while (high - low > 1) {
        size_t mid = (low + high) / 2;

        if (m->functions[mid] <= address)
            low = mid;
        else
            high = mid;
    }
    err = otp_modules_read_mfa(code->modules, m->functions[low], mfa);
    if (err == -ENOENT || (!err && mfa[0] != m->name)) {
        out->kind = OTP_CODE_UNKNOWN;
        return 0;
    }
    if (err)
        return err;
    *out = (struct otp_code_place){.kind = OTP_CODE_FUNCTION, .module = mfa[0], .function = mfa[1], .arity = (uint32_t)mfa[2],
                                   .start = m->functions[low] + otp_modules_layout(code->modules)->info_size};
    if (!m->lines)
        m->lines = otp_lines_new(code->modules, m);
    if (m->lines)
        otp_lines_find(code->modules, m->lines, low, address, out);
    return 0;
}

/* What holds the address now; and how often code had been purged when it is known to have held it. */
static int look_up(struct otp_code *code, uint64_t address, struct otp_code_place *out, uint64_t *seen)
{
    enum otp_code_kind kind;
    struct otp_module *m;
    int err;

    *out = (struct otp_code_place){.kind = OTP_CODE_UNKNOWN};
    *seen = 0;
    m = otp_modules_find(code->modules, address, &kind, &err);
    if (err)
        return err;
    if (!m) {
        out->kind = kind;
        return 0;
    }
    err = find_function(code, m, address, out);
    *seen = m->seen;
    return !err && otp_modules_purged(code->modules, m->name, m->seen) ? -ESTALE : err;
}

/*
 * Looks the address up in this moment. What is no code is not kept: there is no end of it, and its mapping tells at once. When the
 * process has ended, what was found before stays, but for code that was purged since. NULL: nothing, with *err.
 */
static struct found *renew(struct otp_code *code, struct found *found, uint64_t address, int *err)
{
    struct otp_code_place place;
    uint64_t seen;

    *err = look_up(code, address, &place, &seen);
    if (*err == -ESRCH && found) {
        bool purged = found->place.kind == OTP_CODE_FUNCTION && otp_modules_purged(code->modules, found->place.module, found->seen);

        found->err = purged ? -ESTALE : found->err;
        found->moment = memory_moment(code->memory);
        return found;
    }
    if (*err == -ENOENT || *err == -ESRCH)
        return NULL;
    if (!found)
        found = add_found(code, address);
    if (!found) {
        *err = -ENOMEM;
        return NULL;
    }
    found->moment = memory_moment(code->memory);
    found->place = place;
    found->seen = seen;
    found->err = *err;
    return found;
}

int otp_code_find(struct otp_code *code, uint64_t address, uint64_t purges, struct otp_code_place *out)
{
    struct found *found = find_found(code, address);
    int err = 0;

    if (!found || found->moment != memory_moment(code->memory))
        found = renew(code, found, address, &err);
    if (!found)
        return err;
    *out = found->place;
    return found->err ? found->err : found->seen > purges ? -ESTALE : 0;
}
