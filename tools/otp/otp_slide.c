/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: the walk is in a straight line from the entry, so what it stops at is an
 * instruction boundary that every call of the function passes, and passes once.
 */
#include "otp_slide.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    REACH = 160,          /* bytes from the entry that are looked at */
    SHORT_JUMP = 2 + 127, /* how far behind a short jump can stand */
    MAX_INSTRUCTION = 15,
    MAX_REGS = 10,
};

/* The names a register goes by, widest first. */
static const struct reg_family {
    const char *name;
    uint16_t members[5];
} reg_families[] = {
    {"di", {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL}},
    {"si", {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL}},
    {"dx", {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH}},
    {"cx", {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH}},
    {"r8", {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B}},
    {"r9", {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B}},
    {"ax", {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH}},
    {"bx", {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH}},
    {"bp", {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL}},
    {"sp", {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL}},
    {"r10", {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B}},
    {"r11", {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B}},
    {"r12", {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B}},
    {"r13", {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B}},
    {"r14", {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B}},
    {"r15", {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B}},
};

enum { NFAMILIES = sizeof reg_families / sizeof *reg_families };

struct walk {
    struct otp_image *image;
    const struct otp_place *place;
    uint32_t needed; /* a bit for each of reg_families */
    csh capstone;
    cs_insn *insn;
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

static bool parse_regs(const char *regs, uint32_t *out)
{
    for (*out = 0;;) {
        size_t length, i;

        regs += strspn(regs, " ");
        if (!*regs)
            return true;
        length = strcspn(regs, " ");
        for (i = 0; i < NFAMILIES; i++)
            if (strlen(reg_families[i].name) == length && !strncmp(reg_families[i].name, regs, length))
                break;
        if (i == NFAMILIES)
            return false;
        *out |= 1u << i;
        regs += length;
    }
}

static uint32_t family_of(uint16_t reg)
{
    for (size_t i = 0; i < NFAMILIES; i++)
        for (size_t j = 0; j < 5 && reg_families[i].members[j]; j++)
            if (reg_families[i].members[j] == reg)
                return 1u << i;
    return 0;
}

/* ---- what an instruction does */

static bool decode(struct walk *walk, uint64_t address)
{
    size_t size = MAX_INSTRUCTION;
    const uint8_t *code;

    while (!(code = otp_image_at(walk->image, address, size)) && size > 1)
        size--; /* at the end of the segment */
    return code && otp_image_is_code(walk->image, address) &&
           cs_disasm_iter(walk->capstone, &code, &size, &address, walk->insn);
}

static bool is_in(const struct walk *walk, uint8_t group)
{
    return cs_insn_group(walk->capstone, walk->insn, group);
}

static bool is_repeated(const cs_insn *insn)
{
    return insn->bytes[0] == 0xf2 || insn->bytes[0] == 0xf3;
}

/* Whether a needed register may differ behind it. Of repeated string instructions we do not trust the list. */
static bool clobbers(const struct walk *walk)
{
    cs_regs read, write;
    uint8_t nread, nwrite;

    if (walk->insn->id == X86_INS_ENDBR64)
        return false;
    if (is_repeated(walk->insn) || cs_regs_access(walk->capstone, walk->insn, read, &nread, write, &nwrite))
        return true;
    for (uint8_t i = 0; i < nwrite; i++)
        if (family_of(write[i]) & walk->needed)
            return true;
    return false;
}

static bool ends_line(const struct walk *walk)
{
    return is_in(walk, CS_GRP_JUMP) || is_in(walk, CS_GRP_CALL) || is_in(walk, CS_GRP_RET) ||
           is_in(walk, CS_GRP_INT) || is_in(walk, CS_GRP_IRET) || is_in(walk, CS_GRP_PRIVILEGE);
}

/* What the kernel does itself since 5.15. Not longer nops: those depend on its version. */
static bool is_emulated(const cs_insn *insn)
{
    const uint8_t *b = insn->bytes;

    if (insn->size == 1)
        return (b[0] & 0xf8) == 0x50 || b[0] == 0x90;
    if (insn->size == 2)
        return (b[0] == 0x41 && (b[1] & 0xf8) == 0x50) || b[0] == 0xeb || (b[0] & 0xf0) == 0x70;
    return (insn->size == 5 && (b[0] == 0xe8 || b[0] == 0xe9)) ||
           (insn->size == 6 && b[0] == 0x0f && (b[1] & 0xf0) == 0x80);
}

/*
 * The kernel refuses locked instructions, segment prefixes and traps. A nop of five bytes would
 * be turned into a call, which writes below the stack pointer, where a leaf function may keep data.
 */
static bool takes_probe(const struct walk *walk)
{
    const cs_insn *insn = walk->insn;
    const uint8_t *prefix = insn->detail->x86.prefix;

    return prefix[0] != X86_PREFIX_LOCK && !prefix[1] && !is_in(walk, CS_GRP_INT) && !is_in(walk, CS_GRP_PRIVILEGE) &&
           !is_in(walk, CS_GRP_IRET) && !(insn->id == X86_INS_NOP && insn->size == 5);
}

/* ---- jumps back, which would make the probe count more than calls */

static bool short_jump_leads_to(struct walk *walk, uint64_t from, uint64_t to)
{
    uint64_t end = to + SHORT_JUMP, limit = walk->place->address + walk->place->size;

    if (walk->place->size && end > limit)
        end = limit;
    for (uint64_t at = to; at < end; at += walk->insn->size) {
        if (!decode(walk, at))
            return true; /* not known */
        if (is_in(walk, CS_GRP_JUMP) && walk->insn->detail->x86.op_count == 1 &&
            walk->insn->detail->x86.operands[0].type == X86_OP_IMM) {
            uint64_t target = (uint64_t)walk->insn->detail->x86.operands[0].imm;

            if (target >= from && target <= to)
                return true;
        }
    }
    return false;
}

/* A jump to the entry itself is a call like any other. */
static bool is_passed_once(struct walk *walk, uint64_t at)
{
    uint64_t entry = walk->place->address;

    return at == entry ||
           (!otp_image_is_jumped_to(walk->image, entry + 1, at) && !short_jump_leads_to(walk, entry + 1, at));
}

/* ---- the walk */

static void take(const struct walk *walk, struct otp_site *out)
{
    const cs_insn *insn = walk->insn;

    *out = (struct otp_site){.address = insn->address,
                             .offset = otp_image_offset(walk->image, insn->address),
                             .slid = (unsigned)(insn->address - walk->place->address),
                             .cost = is_emulated(insn) ? OTP_COST_EMULATED : OTP_COST_STEPPED};
    snprintf(out->instruction, sizeof out->instruction, "%.31s%s%.47s", insn->mnemonic,
             *insn->op_str ? " " : "", insn->op_str);
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

        if (!decode(walk, at))
            break;
        next = at + walk->insn->size;
        last = ends_line(walk) || clobbers(walk);
        plain = walk->insn->id != X86_INS_ENDBR64;
        usable = takes_probe(walk) && next <= end;
        take(walk, &site);
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
    struct walk walk = {.image = image, .place = place};
    bool found;

    if (!parse_regs(regs, &walk.needed))
        return refuse(why, size, -EINVAL, "no registers: %s", regs);
    if (side == OTP_RETURN)
        walk.needed |= family_of(X86_REG_RSP);
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &walk.capstone))
        return refuse(why, size, -ENOMEM, "cannot start the disassembler");
    cs_option(walk.capstone, CS_OPT_DETAIL, CS_OPT_ON);
    walk.insn = cs_malloc(walk.capstone);
    found = walk.insn && find_site(&walk, out);
    if (walk.insn)
        cs_free(walk.insn, 1);
    cs_close(&walk.capstone);
    if (!found)
        return refuse(why, size, -ENOEXEC, "no instruction at 0x%llx takes a probe",
                      (unsigned long long)place->address);
    return 0;
}
