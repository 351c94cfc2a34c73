/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what cannot be decoded from a function's first byte to its last is not free. */
#include "red_zone.h"

#include <capstone/capstone.h>
#include <fcntl.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 20 }; /* of a function: a file may say that it has any */

/* What a function has done to its stack, up to its first jump. */
struct frame {
    bool has, jumped; /* has: the frame pointer points where the stack pointer did */
    int64_t room;     /* bytes that the stack pointer has gone down since */
};

static bool is_register(const cs_insn *insn, uint8_t i, x86_reg reg)
{
    const cs_x86 *x = &insn->detail->x86;

    return i < x->op_count && x->operands[i].type == X86_OP_REG && x->operands[i].reg == reg;
}

static void follow(struct frame *f, csh capstone, const cs_insn *insn)
{
    f->jumped |= cs_insn_group(capstone, insn, CS_GRP_JUMP);
    if (f->jumped)
        return;
    if (insn->id == X86_INS_PUSH && f->has)
        f->room += 8;
    else if (insn->id == X86_INS_SUB && f->has && is_register(insn, 0, X86_REG_RSP) &&
             insn->detail->x86.operands[1].type == X86_OP_IMM)
        f->room += insn->detail->x86.operands[1].imm;
    f->has |= insn->id == X86_INS_MOV && is_register(insn, 0, X86_REG_RBP) && is_register(insn, 1, X86_REG_RSP);
}

/* Whether the instruction reads or writes below the stack pointer, or where that cannot be told from the frame
 * pointer. */
static bool is_below(const struct frame *f, const cs_insn *insn)
{
    for (uint8_t i = 0; i < insn->detail->x86.op_count; i++) {
        const cs_x86_op *op = &insn->detail->x86.operands[i];
        int64_t room = op->mem.base == X86_REG_RBP ? f->room : 0;

        if (op->type == X86_OP_MEM && op->mem.disp < -room &&
            (op->mem.base == X86_REG_RSP || op->mem.base == X86_REG_RBP))
            return true;
    }
    return false;
}

/* A compiler gives a red zone to functions without a call only. */
static bool is_free(csh capstone, cs_insn *insn, const uint8_t *code, size_t size, uint64_t address)
{
    struct frame frame = {0};
    bool below = false;

    while (size) {
        if (!cs_disasm_iter(capstone, &code, &size, &address, insn))
            return false;
        if (cs_insn_group(capstone, insn, CS_GRP_CALL))
            return true;
        follow(&frame, capstone, insn);
        below |= is_below(&frame, insn);
    }
    return !below;
}

bool red_zone_is_free(struct otp_image *image, uint64_t address)
{
    uint64_t start, size;
    const uint8_t *code;
    bool is = false;
    cs_insn *insn;
    csh capstone;

    if (!otp_image_function_at(image, address, &start, &size) || size > MAX_BYTES ||
        !(code = otp_image_at(image, start, size)) ||
        cs_open(CS_ARCH_X86, CS_MODE_64, &capstone))
        return false;
    cs_option(capstone, CS_OPT_DETAIL, CS_OPT_ON);
    insn = cs_malloc(capstone);
    is = insn && is_free(capstone, insn, code, size, start);
    if (insn)
        cs_free(insn, 1);
    cs_close(&capstone);
    return is;
}

static bool is_safe(void *ctx, uint64_t offset)
{
    uint64_t address = ctx ? otp_image_address(ctx, offset) : 0;

    return address && red_zone_is_free(ctx, address);
}

static bool has_wide(const struct elf_file *elf)
{
    bool has = false;

    for (size_t i = 0; i < elf->nnotes; i++)
        has |= elf->notes[i].wide;
    for (size_t i = 0; i < elf->nbatches; i++)
        has |= elf->batches[i].wide;
    return has;
}

void red_zone_guard(struct elf_file *elf)
{
    struct otp_image *image = NULL;

    if (!has_wide(elf) || elf_file_has_symbol(elf, "erlvm_release"))
        return;
    otp_image_from_fd(dup(elf_file_fd(elf)), &image);
    elf_file_drop_wide(elf, is_safe, image);
    otp_image_free(image);
}
