/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: of all jumps of the function, the entries of its jump tables included, none leads into what stands between
 * the place and the return but from there, and none from there elsewhere.
 */
#include "otp_exit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "otp_insn.h"

enum {
    MAX_PARTS = 8,
    MAX_BYTES = 1 << 18, /* of a part: the largest function of OTP 25 to 29 has 109,098 */
    MAX_TABLE = 4096,    /* entries */
    MAX_TABLES = 64,
    MAX_JUMPS = 1 << 16, /* entries of tables too */
    MAX_STEPS = 256,     /* instructions back from the return */
};

/* From 0: from wherever an entry of a jump table is read. */
struct jump {
    uint64_t from, to;
};

struct part {
    uint64_t begin, end;
};

struct function {
    struct otp_insn insn, ahead; /* the one looked at, and where it leads */
    struct part parts[MAX_PARTS]; /* the one with the entry first */
    size_t nparts;
    struct jump *jumps;
    size_t njumps, room;
    uint64_t *line; /* the instructions up to the return, by address */
    size_t nline;
    uint64_t back; /* its return, 0: none was met */
    otp_regs entry, base, sum; /* what holds an entry of a table, the table, and both added; 0: nothing */
    otp_regs bases, tables;    /* that it jumps by; that a table was put into */
    size_t ntables;
    int err;
    const char *unclear; /* why it is not known how it is left; NULL: it is */
};

static void refuse(struct function *f, const char *why)
{
    if (!f->unclear)
        f->unclear = why;
}

static bool is_within(const struct function *f, uint64_t address)
{
    for (size_t i = 0; i < f->nparts; i++)
        if (address >= f->parts[i].begin && address < f->parts[i].end)
            return true;
    return false;
}

/* ---- the whole function, in the order of addresses */

static void add_jump(struct function *f, uint64_t from, uint64_t to)
{
    if (f->njumps == MAX_JUMPS) {
        refuse(f, "it has too many jumps");
        return;
    }
    if (f->njumps == f->room) {
        size_t room = f->room ? f->room * 2 : 256;
        struct jump *more = reallocarray(f->jumps, room, sizeof *more);

        if (!more) {
            refuse(f, "memory is short");
            f->err = -ENOMEM;
            return;
        }
        f->jumps = more;
        f->room = room;
    }
    f->jumps[f->njumps++] = (struct jump){from, to};
}

/* What is jumped to outside is a part of the function, or another function, whose returns are ways out too. */
static void add_part(struct function *f, uint64_t inside)
{
    uint64_t begin, size;

    if (f->nparts == MAX_PARTS || !otp_image_function_at(f->insn.image, inside, &begin, &size) || size > MAX_BYTES)
        refuse(f, "it jumps to where no function is known");
    else
        f->parts[f->nparts++] = (struct part){begin, begin + size};
}

/* Whether code takes the address: another table begins there. */
static bool is_taken(struct otp_image *image, uint64_t address)
{
    const unsigned char *code = otp_image_at(image, image->text, image->text_size);
    int32_t distance;

    for (uint64_t i = 2; code && i + 4 <= image->text_size; i++) {
        if (code[i - 2] != 0x8d || (code[i - 1] & 0xc7) != 0x05)
            continue;
        memcpy(&distance, code + i, sizeof distance);
        if (image->text + i + 4 + (uint64_t)(int64_t)distance == address)
            return true;
    }
    return false;
}

/*
 * A table of distances from itself, as a switch of position-independent code has it. It ends where another begins, or
 * where an entry leads to no code. An entry may lead to a part that nothing else jumps to.
 */
static void look_for_table(struct function *f, uint64_t table, otp_regs base)
{
    struct otp_image *image = f->insn.image;
    const unsigned char *entry;
    int32_t distance;
    uint64_t to;

    for (size_t i = 0; !f->unclear && !otp_image_is_code(image, table); i++) {
        if (!(entry = otp_image_at(image, table + i * sizeof distance, sizeof distance)))
            return;
        memcpy(&distance, entry, sizeof distance);
        to = table + (uint64_t)(int64_t)distance;
        if (!is_within(f, to)) {
            if (!otp_image_is_code(image, to) || (i && is_taken(image, table + i * sizeof distance)))
                return;
            add_part(f, to);
        }
        if (i == MAX_TABLE || (!i && f->ntables++ == MAX_TABLES))
            refuse(f, "it has too large tables");
        f->tables |= base;
        add_jump(f, 0, to);
    }
}

/*
 * movslq (table,number,4),entry; add table,entry (or entry,table); jmp *entry. Any other jump by a register may be a
 * call.
 */
static void follow_entry(struct function *f)
{
    const cs_x86 *x86 = &f->insn.at->detail->x86;
    const cs_x86_op *op = x86->operands;
    bool two = x86->op_count == 2 && op[0].type == X86_OP_REG && op[0].size == 8;

    if (f->insn.at->id == X86_INS_MOVSXD && two && op[1].type == X86_OP_MEM && op[1].mem.scale == 4) {
        f->entry = otp_insn_reg(op[0].reg);
        f->base = otp_insn_reg(op[1].mem.base);
        f->sum = 0;
        if (f->entry == f->base)
            f->entry = f->base = 0;
    } else if (f->insn.at->id == X86_INS_ADD && two && f->entry && op[1].type == X86_OP_REG &&
               (otp_insn_reg(op[0].reg) | otp_insn_reg(op[1].reg)) == (f->entry | f->base)) {
        f->sum = otp_insn_reg(op[0].reg);
        f->entry = 0;
    } else if (otp_insn_writes(&f->insn, f->entry | f->sum | (f->entry ? f->base : 0))) {
        f->entry = f->base = f->sum = 0;
    }
}

/* Whether who goes there finds the stack overwritten, and ends the program. */
static bool is_end(struct function *f, uint64_t at)
{
    struct otp_insn *insn = &f->ahead;
    const char *import = otp_insn_decode(insn, at) && otp_insn_is(insn, CS_GRP_CALL)
                             ? otp_image_stub_import(insn->image, otp_insn_target(insn))
                             : NULL;

    return import && !strcmp(import, "__stack_chk_fail");
}

static void look_at_jump(struct function *f)
{
    const cs_x86 *x86 = &f->insn.at->detail->x86;
    uint64_t target = otp_insn_target(&f->insn);

    if (!target && x86->op_count == 1 && x86->operands[0].type == X86_OP_REG) {
        if (!f->sum || otp_insn_reg(x86->operands[0].reg) != f->sum)
            refuse(f, "it jumps to where a register says");
        f->bases |= f->base;
        return;
    }
    if (!target) {
        refuse(f, "it jumps to where memory says");
        return;
    }
    if (is_end(f, target))
        return;
    add_jump(f, f->insn.at->address, target);
    if (!is_within(f, target))
        add_part(f, target);
}

static void look_at_return(struct function *f)
{
    if (f->back || f->insn.at->address < f->parts->begin || f->insn.at->address >= f->parts->end)
        refuse(f, "it returns in more than one place");
    f->back = f->insn.at->address;
}

static void look_at(struct function *f)
{
    const cs_x86 *x86 = &f->insn.at->detail->x86;

    if (otp_insn_is(&f->insn, CS_GRP_RET))
        look_at_return(f);
    else if (otp_insn_is_jump(&f->insn))
        look_at_jump(f);
    else if (f->insn.at->id == X86_INS_LEA && x86->operands[1].mem.base == X86_REG_RIP)
        look_for_table(f, f->insn.at->address + f->insn.at->size + (uint64_t)x86->operands[1].mem.disp,
                       otp_insn_reg(x86->operands[0].reg));
    follow_entry(f);
}

static void look_at_part(struct function *f, const struct part *part)
{
    for (uint64_t at = part->begin; at < part->end && !f->unclear; at += f->insn.at->size) {
        if (!otp_insn_decode(&f->insn, at)) {
            refuse(f, "its code cannot be read");
            return;
        }
        if (!f->back && part == f->parts)
            f->line[f->nline++] = at;
        look_at(f);
    }
}

static void look_at_all(struct function *f)
{
    for (size_t i = 0; i < f->nparts && !f->unclear; i++)
        look_at_part(f, &f->parts[i]);
    if (!f->back)
        refuse(f, "it returns nowhere");
    if (f->bases & ~f->tables)
        refuse(f, "it jumps by a table that is not found");
}

/* ---- back from the return */

/* Whether who comes to the instruction behind it came from elsewhere, or went away in between. */
static bool ends_line(const struct otp_insn *insn)
{
    return otp_insn_leaves(insn) || insn->at->id == X86_INS_JMP || insn->at->id == X86_INS_UD2;
}

/* The register that the instruction copies all of into rax; 0: it does another thing. */
static otp_regs find_source(const struct otp_insn *insn)
{
    const cs_x86 *x86 = &insn->at->detail->x86;

    if (insn->at->id != X86_INS_MOV || x86->op_count != 2 || x86->operands[0].type != X86_OP_REG ||
        x86->operands[0].reg != X86_REG_RAX || x86->operands[1].type != X86_OP_REG)
        return 0;
    return otp_insn_reg(x86->operands[1].reg);
}

static enum otp_result find_result(otp_regs holds)
{
    static const char *const names[] = {
#define RESULT(NAME, name) [OTP_RESULT_##NAME] = #name,
        OTP_RESULTS(RESULT)
    };
    otp_regs one;

    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        if (otp_insn_regs(names[i], &one) && one == holds)
            return (enum otp_result)i;
    return OTP_RESULT_RETURNED;
}

/* Whether who passes `at` returns, and who returns passes it, by way of `copied`, where rax is set. */
static bool all_pass(const struct function *f, uint64_t at, uint64_t copied)
{
    for (const struct jump *j = f->jumps; j < f->jumps + f->njumps; j++) {
        bool from = j->from >= at && j->from <= f->back, to = j->to > at && j->to <= f->back;

        if (from != to || (from && (j->from < copied) != (j->to <= copied)))
            return false;
    }
    return true;
}

static bool is_jumped_to(const struct function *f, uint64_t to)
{
    for (const struct jump *j = f->jumps; j < f->jumps + f->njumps; j++)
        if (j->to == to)
            return true;
    return false;
}

/* Whether code that is not known to be the function's leads there, such as a part that unwinding alone goes to. */
static bool others_lead_to(const struct function *f, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; at <= to; at++)
        if (otp_image_is_jumped_to(f->insn.image, at, at) && !is_jumped_to(f, at))
            return true;
    return false;
}

static bool find_site(struct function *f, const struct otp_place *place, struct otp_site *out)
{
    otp_regs rax = otp_insn_reg(X86_REG_RAX), holds = rax;
    uint64_t copied = f->back;

    for (size_t i = f->nline - 1, end = i > MAX_STEPS ? i - MAX_STEPS : 0; i-- > end;) {
        struct otp_insn *insn = &f->insn;
        otp_regs source;

        if (!otp_insn_decode(insn, f->line[i]) || ends_line(insn))
            return false;
        source = holds == rax ? find_source(insn) : 0;
        if (source) {
            holds = source;
            copied = f->line[i];
        } else if (otp_insn_writes(insn, holds)) {
            return false;
        }
        if (!otp_insn_is_emulated(insn) || !otp_insn_takes_probe(insn) || !all_pass(f, f->line[i], copied) ||
            !find_result(holds) || others_lead_to(f, f->line[i] + 1, f->back))
            continue;
        otp_site_take(insn, place, out);
        out->result = find_result(holds);
        return out->offset != 0;
    }
    return false;
}

static bool open_function(struct function *f, struct otp_image *image, const struct otp_place *place)
{
    if (!otp_insn_open(&f->insn, image) || !otp_insn_open(&f->ahead, image))
        return false;
    f->line = calloc(place->size, sizeof *f->line);
    f->parts[f->nparts++] = (struct part){place->address, place->address + place->size};
    return f->line;
}

int otp_exit(struct otp_image *image, const struct otp_place *place, struct otp_site *out, char *why, size_t size)
{
    struct function f = {0};
    int err = -ENOEXEC;

    if (!place->size || place->size > MAX_BYTES) {
        snprintf(why, size, "its size is not known, or too large");
        return err;
    }
    if (!open_function(&f, image, place)) {
        snprintf(why, size, "memory is short");
        err = -ENOMEM;
    } else {
        look_at_all(&f);
        if (!f.unclear && find_site(&f, place, out))
            err = 0;
        else if (f.err)
            err = f.err;
        if (err)
            snprintf(why, size, "%s", f.unclear ? f.unclear : "no place for a probe is on all ways out of it");
    }
    otp_insn_close(&f.insn);
    otp_insn_close(&f.ahead);
    free(f.line);
    free(f.jumps);
    return err;
}
