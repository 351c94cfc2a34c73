/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites from USDT notes. Source: the argument format of SystemTap's sys/sdt.h, N@OP, where N
 * is the size in bytes, negative when signed, and OP an operand of the assembler.
 * Invariant: an argument that is not understood stays WIRE_ARG_NONE and is counted.
 */
#include <stdlib.h>
#include <string.h>

#include "provider.h"

/* "%rax", "%eax", "%r8d" ...: its number, WIRE_NO_REG when unknown; *text moves past it. */
static unsigned char parse_reg(const char **text)
{
    static const struct {
        unsigned char number;
        const char *name;
    } regs[] = {
#define REG(number, name) {number, #name},
        WIRE_REGS(REG)
#undef REG
    };
    size_t len = **text == '%' ? strspn(*text + 1, "abcdefghijklmnopqrstuvwxyz0123456789") : 0;
    const char *name = *text + 1;

    if (len < 2 || len > 4)
        return WIRE_NO_REG;
    *text += 1 + len;
    if (name[0] == 'r' && name[1] > '9') { /* rax, rip */
        name++;
        len--;
    } else if (name[0] == 'e') {
        name++;
        len--;
    } else if (name[0] == 'r' && strchr("dwb", name[len - 1])) { /* r8d */
        len--;
    } else if (len == 2 && name[1] == 'l' && name[0] >= 'a' && name[0] <= 'd') { /* al */
        return name[0] == 'a' ? 0 : name[0] == 'c' ? 1 : name[0] == 'd' ? 2 : 3;
    } else if (len == 3 && name[2] == 'l') { /* sil */
        len--;
    }
    for (size_t i = 0; i < sizeof regs / sizeof *regs; i++)
        if (strlen(regs[i].name) == len && !strncmp(regs[i].name, name, len))
            return regs[i].number;
    return WIRE_NO_REG;
}

/* "-24(%rbp)", "(%rax,%rcx,8)" from its number on. */
static bool parse_memory(const char **text, struct wire_arg *arg)
{
    const char *at = *text;
    char *end = (char *)at;

    if (*at != '(')
        arg->offset = strtoll(at, &end, 0);
    at = end;
    if (*at++ != '(')
        return false;
    arg->index = WIRE_NO_REG;
    arg->scale = 1;
    arg->reg = parse_reg(&at);
    if (arg->reg == WIRE_NO_REG)
        return false;
    if (*at == ',') {
        at++;
        arg->index = parse_reg(&at);
        if (arg->index == WIRE_NO_REG)
            return false;
        if (*at == ',') {
            arg->scale = (unsigned char)strtoul(at + 1, &end, 10);
            at = end;
        }
    }
    if (*at++ != ')')
        return false;
    arg->kind = WIRE_ARG_MEM;
    *text = at;
    return true;
}

size_t provider_usdt_parse_arg(const char *text, struct wire_arg *out)
{
    struct wire_arg arg = {0};
    const char *at = text;
    char *end;
    long size = strtol(at, &end, 10);
    long bytes = size < 0 ? -size : size;

    *out = arg;
    if (end == at || *end != '@' || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return 0;
    arg.is_signed = size < 0;
    arg.shift = (unsigned char)(64 - 8 * bytes);
    at = end + 1;
    if (*at == '$') {
        arg.offset = strtoll(at + 1, &end, 0);
        if (end == at + 1)
            return 0;
        arg.kind = WIRE_ARG_CONST;
        at = end;
    } else if (*at == '%') {
        arg.reg = parse_reg(&at);
        if (arg.reg == WIRE_NO_REG)
            return 0;
        arg.kind = WIRE_ARG_REG;
    } else if (!parse_memory(&at, &arg)) {
        return 0;
    }
    if (*at && *at != ' ')
        return 0;
    *out = arg;
    return (size_t)(at - text);
}

static void parse_args(const char *text, struct provider_site *site)
{
    for (int i = 0; i < BATCH_MAX_ARGS && *text; i++) {
        size_t len = provider_usdt_parse_arg(text, &site->spec.args[i]);

        site->bad_args += !len;
        text += len ? len : strcspn(text, " ");
        text += strspn(text, " ");
    }
}

int provider_usdt_next_site(const struct elf_file *elf, const char *probe, size_t *cursor,
                            struct provider_site *out)
{
    while (*cursor < elf->nnotes) {
        const struct elf_note *note = &elf->notes[(*cursor)++];

        if (strcmp(note->name, probe))
            continue;
        *out = (struct provider_site){.offset = note->offset, .semaphore = note->semaphore};
        parse_args(note->args, out);
        return 1;
    }
    return 0;
}
