/* SPDX-License-Identifier: Apache-2.0 */
/* Where probes slide to, on functions assembled for the purpose and on every function of the machine's emulator. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "otp/otp_slide.h"
#include "support_assembled.h"

#define NOP(n) ".skip " #n ", 0x90\n"

/* What a function is made of, and where the probe belongs: `cost` -1 when it must be refused. */
static const struct {
    const char *name, *code, *regs;
    enum otp_side side;
    unsigned slid;
    int cost;
} cases[] = {
    {"push_first", "push %rbp; mov %rsp,%rbp; pop %rbp; ret", "di si", OTP_ENTRY, 0, OTP_COST_EMULATED},
    {"push_first_return", "push %r15; pop %r15; ret", "", OTP_RETURN, 0, OTP_COST_EMULATED},
    {"endbr64_first", "endbr64; push %r15; pop %r15; ret", "di si dx cx r8 r9", OTP_ENTRY, 4, OTP_COST_EMULATED},
    {"endbr64_return", "endbr64; push %r15; pop %r15; ret", "", OTP_RETURN, 4, OTP_COST_EMULATED},
    {"cmp_first", "cmp $0,%rdi; push %rbx; pop %rbx; ret", "di", OTP_ENTRY, 4, OTP_COST_EMULATED},
    {"branch_first", "test %rdi,%rdi; je 1f; push %rbx; pop %rbx; 1: ret", "di", OTP_ENTRY, 3, OTP_COST_EMULATED},
    {"clobbered", "xor %edi,%edi; push %rbx; pop %rbx; ret", "di", OTP_ENTRY, 0, OTP_COST_STEPPED},
    {"another_clobbered", "xor %edi,%edi; push %rbx; pop %rbx; ret", "si", OTP_ENTRY, 2, OTP_COST_EMULATED},
    {"low_byte_clobbered", "mov $1,%dil; push %rbx; pop %rbx; ret", "di", OTP_ENTRY, 0, OTP_COST_STEPPED},
    {"clobbered_by_exchange", "xchg %rsi,%rax; push %rbx; pop %rbx; ret", "si", OTP_ENTRY, 0, OTP_COST_STEPPED},
    {"clobbered_by_multiply", "mul %rcx; push %rbx; pop %rbx; ret", "dx", OTP_ENTRY, 0, OTP_COST_STEPPED},
    {"clobbered_by_string", "rep stosb; push %rbx; pop %rbx; ret", "di", OTP_ENTRY, 0, OTP_COST_STEPPED},
    {"frame_entry", "sub $8,%rsp; mov %rdi,%rax; jmp 1f; 1: add $8,%rsp; ret", "di", OTP_ENTRY, 7, OTP_COST_EMULATED},
    {"frame_return", "sub $8,%rsp; mov %rdi,%rax; jmp 1f; 1: add $8,%rsp; ret", "", OTP_RETURN, 0, OTP_COST_STEPPED},
    {"pushed_return", "mov %rdi,%rax; push %rbx; push %rbp; pop %rbp; pop %rbx; ret", "", OTP_RETURN, 3, OTP_COST_EMULATED},
    {"not_past_ret", "mov %rdi,%rax; ret; push %rbx; pop %rbx", "di", OTP_ENTRY, 0, OTP_COST_STEPPED},
    {"not_past_jump", "mov %rdi,%rax; jmp *%rax; push %rbx", "di", OTP_ENTRY, 0, OTP_COST_STEPPED},
    {"call_first", "mov %rdi,%rax; call push_first; ret", "di", OTP_ENTRY, 3, OTP_COST_EMULATED},
    {"loop_behind_endbr64", "endbr64; 1: dec %rdi; push %rdi; pop %rax; jnz 1b; ret", "", OTP_ENTRY, 0, OTP_COST_STEPPED},
    {"far_loop", "endbr64; 1: push %rbx; pop %rbx; dec %rdi;" NOP(300) "jnz 1b; ret", "", OTP_ENTRY, 0, OTP_COST_STEPPED},
    {"jumped_into_from_behind", "mov %rdi,%rax; 1: push %rbx; pop %rbx; ret; jmp 1b", "di", OTP_ENTRY, 0, OTP_COST_STEPPED},
    {"tail_call_of_itself", "push %rbx; pop %rbx; dec %rdi; jnz tail_call_of_itself; ret", "", OTP_ENTRY, 0, OTP_COST_EMULATED},
    {"nop_of_five", ".byte 0x0f,0x1f,0x44,0,0; ret", "", OTP_ENTRY, 5, OTP_COST_STEPPED},
    {"short_nop", "nop; ret", "di", OTP_ENTRY, 0, OTP_COST_EMULATED},
    {"locked", "lock incl (%rdi); ret", "di", OTP_ENTRY, 3, OTP_COST_STEPPED},
    {"sixteen_bit_push", "pushw %ax; push %rbx; pop %rbx; popw %ax; ret", "", OTP_ENTRY, 2, OTP_COST_EMULATED},
    {"trap", "int3; ret", "", OTP_ENTRY, 0, -1},
    {"system_call", "syscall; ret", "", OTP_ENTRY, 0, -1},
    {"undecodable", ".byte 0x06,0x06,0x06", "", OTP_ENTRY, 0, -1},
    {"empty", "", "", OTP_ENTRY, 0, -1},
    {"cut_off", ".byte 0xe8,0,0", "", OTP_ENTRY, 0, -1},
};

enum { NCASES = sizeof cases / sizeof *cases };

static void write_cases(FILE *file)
{
    for (int i = 0; i < NCASES; i++)
        fprintf(file, ".balign 16, 0xcc\n.globl %s\n.type %s, @function\n%s: %s\n.size %s, . - %s\n.skip 16, 0xcc\n", cases[i].name,
                cases[i].name, cases[i].name, cases[i].code, cases[i].name, cases[i].name);
}

START_TEST(test_otp_slide_each_case)
{
    struct otp_symbols *symbols = support_assemble(write_cases);

    for (int i = 0; i < NCASES; i++) {
        struct otp_place place;
        struct otp_site site;
        char why[128] = "";
        int err;

        ck_assert_int_eq(otp_symbols_find(symbols, cases[i].name, &place), 0);
        err = otp_slide(otp_symbols_image(symbols), &place, cases[i].regs, cases[i].side, &site, why, sizeof why);
        if (cases[i].cost < 0) {
            ck_assert_msg(err == -ENOEXEC && *why && !strchr(why, '\n'), "%s: %d at +%u %s", cases[i].name, err, site.slid,
                          site.instruction);
            continue;
        }
        ck_assert_msg(!err, "%s: %s", cases[i].name, why);
        ck_assert_msg(site.slid == cases[i].slid && (int)site.cost == cases[i].cost, "%s: +%u %s %s", cases[i].name, site.slid,
                      otp_cost_text(site.cost), site.instruction);
        ck_assert_uint_eq(site.address, place.address + site.slid);
        ck_assert_uint_eq(site.offset, otp_image_offset(otp_symbols_image(symbols), site.address));
    }
    otp_symbols_free(symbols);
}
END_TEST

START_TEST(test_otp_slide_refuses_what_is_no_register)
{
    struct otp_symbols *symbols = support_assemble(write_cases);
    struct otp_place place;
    struct otp_site site;
    char why[128];

    ck_assert_int_eq(otp_symbols_find(symbols, "push_first", &place), 0);
    for (const char *const *regs = (const char *const[]){"rdi", "di,si", "d", "di six", "\n", NULL}; *regs; regs++)
        ck_assert_int_eq(otp_slide(otp_symbols_image(symbols), &place, *regs, OTP_ENTRY, &site, why, sizeof why), -EINVAL);
    otp_symbols_free(symbols);
}
END_TEST

START_TEST(test_otp_slide_refuses_what_is_no_code)
{
    struct otp_symbols *symbols = support_assemble(write_cases);
    struct otp_place place = {.address = 0, .size = 16};
    struct otp_site site;
    char why[128];

    for (const uint64_t *at = (const uint64_t[]){0, 0x10, 1ul << 40, UINT64_MAX - 3, UINT64_MAX, 1}; *at != 1; at++) {
        place.address = *at;
        ck_assert_int_eq(otp_slide(otp_symbols_image(symbols), &place, "di", OTP_ENTRY, &site, why, sizeof why), -ENOEXEC);
    }
    otp_symbols_free(symbols);
}
END_TEST

/* ---- every function of an emulator, held against the boundaries that objdump finds */

/* Path of the machine's own emulator, "" without one. */
static void emulator(char path[256])
{
    glob_t found;

    *path = 0;
    if (!glob("/usr/lib/erlang/erts-*/bin/beam.smp", 0, NULL, &found))
        snprintf(path, 256, "%s", found.gl_pathv[0]);
    globfree(&found);
}

/* A letter for each byte of .text: 0 none, 'e' an instruction that is emulated, 's' another. */
static char *boundaries(const char *path, const struct otp_image *image)
{
    static const char *const emulated[] = {"push ", "call ", "jmp ", "j", "nop"};
    char command[512], line[512], *kinds = calloc(1, image->text_size), mnemonic[16];
    unsigned long address;
    FILE *pipe;

    snprintf(command, sizeof command, "objdump -d -w --no-show-raw-insn -j .text '%s'", path);
    pipe = popen(command, "r");
    ck_assert(kinds && pipe);
    while (fgets(line, sizeof line, pipe)) {
        if (sscanf(line, " %lx:\t%15[^\n]", &address, mnemonic) != 2 || address - image->text >= image->text_size)
            continue;
        kinds[address - image->text] = 's';
        for (size_t i = 0; i < sizeof emulated / sizeof *emulated; i++)
            if (!strncmp(mnemonic, emulated[i], strlen(emulated[i])))
                kinds[address - image->text] = 'e';
    }
    pclose(pipe);
    return kinds;
}

START_TEST(test_otp_slide_finds_boundaries_in_an_emulator)
{
    static const char *const regs[] = {"", "di", "di si dx cx r8 r9"};
    char path[256], *kinds, why[128];
    struct otp_symbols *symbols;
    struct otp_image *image;
    size_t n = 0, cheap = 0;

    SUPPORT_EXPORTS();
    emulator(path);
    ck_assert_msg(*path, "no /usr/lib/erlang/erts-*/bin/beam.smp");
    ck_assert_int_eq(otp_symbols_new(path, NULL, &symbols), 0);
    image = otp_symbols_image(symbols);
    kinds = boundaries(path, image);
    for (size_t i = 0; i < image->nsymbols; i++) {
        const struct otp_symbol *symbol = &image->symbols[i];
        struct otp_place place = {.address = symbol->address, .size = symbol->size};
        struct otp_site site;

        if (!symbol->code || symbol->address - image->text >= image->text_size ||
            otp_slide(image, &place, regs[i % 3], i % 2 ? OTP_ENTRY : OTP_RETURN, &site, why, sizeof why))
            continue;
        n++;
        cheap += site.cost == OTP_COST_EMULATED;
        ck_assert_msg(kinds[site.address - image->text], "%s+%u is no boundary", symbol->name, site.slid);
        ck_assert_msg(site.cost == OTP_COST_STEPPED || kinds[site.address - image->text] == 'e', "%s+%u: %s is not emulated",
                      symbol->name, site.slid, site.instruction);
    }
    ck_assert_msg(n > 2000 && cheap > n / 2, "%zu functions, %zu cheap", n, cheap);
    free(kinds);
    otp_symbols_free(symbols);
}
END_TEST

Suite *otp_slide_suite(void)
{
    Suite *suite = suite_create("otp_slide");
    TCase *slide = tcase_create("slide");

    tcase_set_timeout(slide, 120);
    tcase_add_test(slide, test_otp_slide_each_case);
    tcase_add_test(slide, test_otp_slide_refuses_what_is_no_register);
    tcase_add_test(slide, test_otp_slide_refuses_what_is_no_code);
    tcase_add_test(slide, test_otp_slide_finds_boundaries_in_an_emulator);
    suite_add_tcase(suite, slide);
    return suite;
}
