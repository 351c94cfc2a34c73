/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: the walk is in a straight line from the entry, so what it stops at is an
 * instruction boundary that every call of the function passes, and passes once.
 */
#include "otp_slide.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "otp_insn.h"

enum {
    REACH = 160,          /* bytes from the entry that are looked at */
    SHORT_JUMP = 2 + 127, /* how far behind a short jump can stand */
};

struct walk {
    struct otp_insn insn;
    const struct otp_place *place;
    otp_regs needed;
};

static int refuse(char *why, size_t size, int err, const char *format, ...) __attribute__((format(printf, 4, 5)));

static int refuse(char *why, size_t size, int err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return err;
}

const char *otp_cost_text(enum otp_cost cost)
{
    return cost == OTP_COST_EMULATED ? "one trap" : "two traps: single-stepped";
}

/* ---- jumps back, which would make the probe count more than calls */

static bool short_jump_leads_to(struct walk *walk, uint64_t from, uint64_t to)
{
    uint64_t end = to + SHORT_JUMP, limit = walk->place->address + walk->place->size;

    if (walk->place->size && end > limit)
        end = limit;
    for (uint64_t at = to; at < end; at += walk->insn.at->size) {
        uint64_t target;

        if (!otp_insn_decode(&walk->insn, at))
            return true; /* not known */
        target = otp_insn_is_jump(&walk->insn) ? otp_insn_target(&walk->insn) : 0;
        if (target && target >= from && target <= to)
            return true;
    }
    return false;
}

/* A jump to the entry itself is a call like any other. */
static bool is_passed_once(struct walk *walk, uint64_t at)
{
    uint64_t entry = walk->place->address;

    return at == entry ||
           (!otp_image_is_jumped_to(walk->insn.image, entry + 1, at) && !short_jump_leads_to(walk, entry + 1, at));
}

/* ---- the walk */

void otp_site_take(const struct otp_insn *insn, const struct otp_place *place, struct otp_site *out)
{
    const cs_insn *at = insn->at;

    *out = (struct otp_site){.address = at->address,
                             .offset = otp_image_offset(insn->image, at->address),
                             .slid = (unsigned)(at->address - place->address),
                             .cost = otp_insn_is_emulated(insn) ? OTP_COST_EMULATED : OTP_COST_STEPPED};
    snprintf(out->instruction, sizeof out->instruction, "%.31s%s%.47s", at->mnemonic, *at->op_str ? " " : "",
             at->op_str);
}

/* The first emulated instruction; else the first other one, endbr64 only when there is nothing else. */
static bool find_site(struct walk *walk, struct otp_site *best)
{
    uint64_t entry = walk->place->address, end = entry + REACH;
    bool found = false, found_plain = false, last = false;

    if (walk->place->size && walk->place->size < REACH)
        end = entry + walk->place->size;
    for (uint64_t at = entry, next; at < end && !last; at = next) {
        struct otp_site site;
        bool usable, plain;

        if (!otp_insn_decode(&walk->insn, at))
            break;
        next = at + walk->insn.at->size;
        last = otp_insn_leaves(&walk->insn) || otp_insn_is_jump(&walk->insn) ||
               otp_insn_writes(&walk->insn, walk->needed);
        plain = walk->insn.at->id != X86_INS_ENDBR64;
        usable = otp_insn_takes_probe(&walk->insn) && next <= end;
        otp_site_take(&walk->insn, walk->place, &site);
        if (!usable || !is_passed_once(walk, at) || !site.offset)
            continue;
        if (!found || (plain && !found_plain) || site.cost == OTP_COST_EMULATED) {
            *best = site;
            found = true;
            found_plain = plain;
        }
        if (site.cost == OTP_COST_EMULATED)
            break;
    }
    return found;
}

int otp_slide(struct otp_image *image, const struct otp_place *place, const char *regs, enum otp_side side,
              struct otp_site *out, char *why, size_t size)
{
    struct walk walk = {.place = place};
    bool found;

    if (!otp_insn_regs(regs, &walk.needed))
        return refuse(why, size, -EINVAL, "no registers: %s", regs);
    if (side != OTP_ENTRY)
        walk.needed |= otp_insn_reg(X86_REG_RSP);
    if (!otp_insn_open(&walk.insn, image)) {
        otp_insn_close(&walk.insn);
        return refuse(why, size, -ENOMEM, "cannot start the disassembler");
    }
    found = find_site(&walk, out);
    otp_insn_close(&walk.insn);
    if (!found)
        return refuse(why, size, -ENOEXEC, "no instruction at 0x%llx takes a probe",
                      (unsigned long long)place->address);
    return 0;
}
