/* SPDX-License-Identifier: Apache-2.0 */
#include "otp_insn.h"

#include <string.h>

enum { MAX_INSTRUCTION = 15 };

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

bool otp_insn_open(struct otp_insn *insn, struct otp_image *image)
{
    *insn = (struct otp_insn){.image = image};
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &insn->capstone))
        return false;
    cs_option(insn->capstone, CS_OPT_DETAIL, CS_OPT_ON);
    insn->at = cs_malloc(insn->capstone);
    return insn->at;
}

void otp_insn_close(struct otp_insn *insn)
{
    if (insn->at)
        cs_free(insn->at, 1);
    if (insn->capstone)
        cs_close(&insn->capstone);
    *insn = (struct otp_insn){0};
}

bool otp_insn_decode(struct otp_insn *insn, uint64_t address)
{
    size_t size = MAX_INSTRUCTION;
    const uint8_t *code;

    while (!(code = otp_image_at(insn->image, address, size)) && size > 1)
        size--; /* at the end of the segment */
    return code && otp_image_is_code(insn->image, address) &&
           cs_disasm_iter(insn->capstone, &code, &size, &address, insn->at);
}

bool otp_insn_is(const struct otp_insn *insn, uint8_t group)
{
    return cs_insn_group(insn->capstone, insn->at, group);
}

/* Capstone counts `loop` to no jumps. */
bool otp_insn_is_jump(const struct otp_insn *insn)
{
    return otp_insn_is(insn, CS_GRP_JUMP) ||
           (otp_insn_is(insn, CS_GRP_BRANCH_RELATIVE) && !otp_insn_is(insn, CS_GRP_CALL));
}

bool otp_insn_leaves(const struct otp_insn *insn)
{
    static const uint8_t groups[] = {CS_GRP_CALL, CS_GRP_RET, CS_GRP_INT, CS_GRP_IRET, CS_GRP_PRIVILEGE};

    for (size_t i = 0; i < sizeof groups; i++)
        if (otp_insn_is(insn, groups[i]))
            return true;
    return false;
}

uint64_t otp_insn_target(const struct otp_insn *insn)
{
    const cs_x86 *x86 = &insn->at->detail->x86;

    if (!otp_insn_is_jump(insn) && !otp_insn_is(insn, CS_GRP_CALL))
        return 0;
    return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM ? (uint64_t)x86->operands[0].imm : 0;
}

/* ---- registers */

otp_regs otp_insn_reg(unsigned reg)
{
    for (size_t i = 0; i < NFAMILIES; i++)
        for (size_t j = 0; j < 5 && reg_families[i].members[j]; j++)
            if (reg_families[i].members[j] == reg)
                return 1u << i;
    return 0;
}

bool otp_insn_regs(const char *names, otp_regs *out)
{
    for (*out = 0;;) {
        size_t length, i;

        names += strspn(names, " ");
        if (!*names)
            return true;
        length = strcspn(names, " ");
        for (i = 0; i < NFAMILIES; i++)
            if (strlen(reg_families[i].name) == length && !strncmp(reg_families[i].name, names, length))
                break;
        if (i == NFAMILIES)
            return false;
        *out |= 1u << i;
        names += length;
    }
}

static bool is_repeated(const cs_insn *at)
{
    const uint8_t *prefix = at->detail->x86.prefix;

    return at->bytes[0] == 0xf2 || at->bytes[0] == 0xf3 || prefix[0] == X86_PREFIX_REP || prefix[0] == X86_PREFIX_REPNE;
}

/* Whether capstone's list lacks a register that it writes: cmpxchg of memory (rax), xlatb (al), enter (rbp). */
static bool is_badly_listed(const cs_insn *at)
{
    return is_repeated(at) || at->id == X86_INS_CMPXCHG || at->id == X86_INS_XLATB || at->id == X86_INS_ENTER;
}

/* Where we do not trust the list, all may be written. */
bool otp_insn_writes(const struct otp_insn *insn, otp_regs regs)
{
    cs_regs read, write;
    uint8_t nread, nwrite;

    if (insn->at->id == X86_INS_ENDBR64)
        return false;
    if (is_badly_listed(insn->at) || cs_regs_access(insn->capstone, insn->at, read, &nread, write, &nwrite))
        return true;
    for (uint8_t i = 0; i < nwrite; i++)
        if (otp_insn_reg(write[i]) & regs)
            return true;
    return false;
}

/* ---- probes */

/* Since 5.15. Not longer nops: those depend on the kernel's version. */
bool otp_insn_is_emulated(const struct otp_insn *insn)
{
    const uint8_t *b = insn->at->bytes;
    uint16_t size = insn->at->size;

    if (size == 1)
        return (b[0] & 0xf8) == 0x50 || b[0] == 0x90;
    if (size == 2)
        return (b[0] == 0x41 && (b[1] & 0xf8) == 0x50) || b[0] == 0xeb || (b[0] & 0xf0) == 0x70;
    return (size == 5 && (b[0] == 0xe8 || b[0] == 0xe9)) || (size == 6 && b[0] == 0x0f && (b[1] & 0xf0) == 0x80);
}

/*
 * The kernel refuses locked instructions, segment prefixes and traps. A nop of five bytes would
 * be turned into a call, which writes below the stack pointer, where a leaf function may keep data.
 */
bool otp_insn_takes_probe(const struct otp_insn *insn)
{
    const cs_insn *at = insn->at;
    const uint8_t *prefix = at->detail->x86.prefix;

    return prefix[0] != X86_PREFIX_LOCK && !prefix[1] && !otp_insn_is(insn, CS_GRP_INT) &&
           !otp_insn_is(insn, CS_GRP_PRIVILEGE) && !otp_insn_is(insn, CS_GRP_IRET) &&
           !(at->id == X86_INS_NOP && at->size == 5);
}
