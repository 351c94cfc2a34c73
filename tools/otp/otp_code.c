/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: what is read from the process is checked against the bounds of what holds it before
 * it is used as a count, an index or an order; a process that lies gets no name, or a wrong one.
 */
#include "otp_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "erlvm_code.h"
#include "otp_lines.h"
#include "otp_modules.h"
#include "target/memory.h"

enum { MAX_FOUND = 1 << 16, BUCKET_BITS = 13 };

/*
 * What was found at an address: it is known to have been there when code had been purged `seen` to `known` times. An
 * address has several when code was purged.
 */
struct found {
    struct found *next;
    uint64_t address, seen, known;
    uint64_t moment; /* of the memory, when it was last seen; 0: it is gone */
    struct otp_code_place place;
};

struct otp_code {
    struct memory *memory;
    struct otp_modules *modules;     /* NULL: an erlvm */
    const struct erlvm_layout *ours; /* of an erlvm */
    /* of an erlvm: how often code had gone, read in this moment of the memory before any code */
    uint64_t given, given_moment;
    struct found *found[1 << BUCKET_BITS];
    size_t nfound;
};

int otp_code_new(struct memory *memory, const struct otp_code_layout *layout, struct otp_code **out)
{
    struct otp_code *code = calloc(1, sizeof *code);

    if (!code)
        return -ENOMEM;
    code->memory = memory;
    code->ours = layout->ours;
    code->modules = code->ours ? NULL : otp_modules_new(memory, layout);
    if (!code->ours && !code->modules) {
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
    if (code->modules)
        otp_modules_free(code->modules);
    free(code);
}

void otp_code_follow(struct otp_code *code, const struct otp_code_purges *purges)
{
    if (code->modules)
        otp_modules_follow(code->modules, purges);
}

static uint64_t count_purges(struct otp_code *code)
{
    if (code->modules)
        return otp_modules_purges(code->modules);
    if (code->given_moment != memory_moment(code->memory) && !erlvm_code_given(code->memory, code->ours, &code->given))
        code->given_moment = memory_moment(code->memory);
    return code->given;
}

/* Whether what was found there is gone since: an erlvm that has ended does not tell. */
static bool was_purged(const struct otp_code *code, const struct found *found)
{
    return !code->modules || otp_modules_purged(code->modules, found->place.module, found->seen);
}

/* ---- what was found */

static size_t bucket_of(uint64_t address)
{
    return (address * 0x9e3779b97f4a7c15u) >> (64 - BUCKET_BITS); /* 2^64 by the golden ratio */
}

/* What is known to have been there by then; NULL: nothing is. */
static struct found *find_found(const struct otp_code *code, uint64_t address, uint64_t purges)
{
    struct found *found = code->found[bucket_of(address)];

    while (found && (found->address != address || purges < found->seen || purges > found->known))
        found = found->next;
    return found;
}

/* What was there last, of what was there by then. NULL: nothing. */
static struct found *find_last(const struct otp_code *code, uint64_t address, uint64_t purges)
{
    struct found *last = NULL;

    for (struct found *found = code->found[bucket_of(address)]; found; found = found->next)
        if (found->address == address && found->seen <= purges && (!last || found->known > last->known))
            last = found;
    return last;
}

static bool is_same(const struct otp_code_place *a, const struct otp_code_place *b)
{
    return a->kind == b->kind && a->module == b->module && a->function == b->function && a->arity == b->arity &&
           a->start == b->start;
}

/* Keeps what was found in this moment; all else that was there is gone. NULL: out of memory. */
static struct found *keep_found(struct otp_code *code, uint64_t address, uint64_t seen, uint64_t known,
                                const struct otp_code_place *place)
{
    struct found **bucket = &code->found[bucket_of(address)], *kept = NULL;

    for (struct found *found = *bucket; found; found = found->next) {
        if (found->address != address)
            continue;
        found->moment = 0;
        if (found->seen == seen && is_same(&found->place, place))
            kept = found;
    }
    if (!kept) {
        if (code->nfound == MAX_FOUND)
            forget_found(code);
        kept = calloc(1, sizeof *kept);
        if (!kept)
            return NULL;
        *kept = (struct found){.next = *bucket, .address = address, .seen = seen, .place = *place};
        *bucket = kept;
        code->nfound++;
    }
    kept->known = known;
    kept->moment = memory_moment(code->memory);
    return kept;
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
    *out = (struct otp_code_place){.kind = OTP_CODE_FUNCTION,
                                   .module = mfa[0],
                                   .function = mfa[1],
                                   .arity = (uint32_t)mfa[2],
                                   .start = m->functions[low] + otp_modules_layout(code->modules)->info_size};
    if (!m->lines)
        m->lines = otp_lines_new(code->modules, m);
    if (m->lines)
        otp_lines_find(code->modules, m->lines, low, address, out);
    return 0;
}

/*
 * What holds the address now, and how often code had been purged when it is known to have held it. `before`: what was
 * there last, or NULL.
 */
static int look_up(struct otp_code *code, uint64_t address, const struct found *before, struct otp_code_place *out,
                   uint64_t *seen)
{
    enum otp_code_kind kind;
    struct otp_module *m;
    int err;

    *out = (struct otp_code_place){.kind = OTP_CODE_UNKNOWN};
    *seen = 0;
    if (code->ours) {
        err = erlvm_code_find(code->memory, code->ours, address, out, seen);
        return !err && *seen > code->given ? -ESTALE : err; /* it came after code had gone */
    }
    m = otp_modules_find(code->modules, address, &kind, &err);
    if (err)
        return err;
    if (!m) {
        out->kind = kind;
        return 0;
    }
    *seen = m->seen;
    if (before && before->place.kind == OTP_CODE_FUNCTION && before->place.module == m->name &&
        before->seen == m->seen) {
        *out = before->place; /* the module that was there still is */
        return 0;
    }
    err = find_function(code, m, address, out);
    return !err && otp_modules_purged(code->modules, m->name, m->seen) ? -ESTALE : err;
}

/* What was there last, when the process has ended: unless it was purged since. */
static const struct found *find_ended(const struct otp_code *code, uint64_t address, uint64_t purges)
{
    const struct found *last = find_last(code, address, purges);

    if (last && purges > last->known && last->place.kind == OTP_CODE_FUNCTION && was_purged(code, last))
        return NULL;
    return last;
}

/* Whether it need not be looked up once more: it is gone since, or was found in this moment. */
static bool is_settled(const struct otp_code *code, const struct found *found)
{
    return found && (!found->moment || found->moment == memory_moment(code->memory));
}

/* What is no code is not kept: there is no end of it, and its mapping tells at once. Counting purges costs a system
 * call. */
int otp_code_find(struct otp_code *code, uint64_t address, uint64_t purges, struct otp_code_place *out)
{
    const struct found *found;

    if (purges == OTP_CODE_NOW)
        purges = count_purges(code);
    found = find_found(code, address, purges);
    if (!is_settled(code, found)) {
        uint64_t known = count_purges(code), seen;
        struct otp_code_place place;
        int err = look_up(code, address, found, &place, &seen);

        if (err == -ENOENT && !found)
            return err;
        if (!err)
            /* unknown now says nothing of before */
            keep_found(code, address, place.kind == OTP_CODE_UNKNOWN ? known : seen, known, &place);
        found = err == -ESRCH ? find_ended(code, address, purges) : find_found(code, address, purges);
        if (!found)
            return err ? err : -ESTALE;
    }
    *out = found->place;
    return 0;
}

bool otp_code_returns(struct otp_code *code, uint64_t address)
{
    return code->ours && erlvm_code_returns(code->memory, code->ours, address);
}
