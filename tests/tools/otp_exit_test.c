/* SPDX-License-Identifier: Apache-2.0 */
/* Where all ways out of a function meet, on functions assembled for the purpose; plan_test.c has the emulator's. */
#include <errno.h>
#include <string.h>

#include "otp/otp_exit.h"
#include "support_assembled.h"

/* What a function is made of, and where the probe belongs: `at` -1 when it must be refused. */
static const struct {
    const char *name, *code;
    int at;
    enum otp_result result;
} cases[] = {
    {"jump_before", "push %rbx; mov %rdi,%rbx; test %rsi,%rsi; jne 1f; inc %rcx; 1: mov %rbx,%rax; pop %rbx; ret", 7, OTP_RESULT_BX},
    {"jumps_to_the_end", "push %rbx; mov %rdi,%rbx; test %rsi,%rsi; jne 1f; test %rdx,%rdx; jne 1f; nop; 1: mov %rbx,%rax; pop %rbx; ret",
     7, OTP_RESULT_BX}, /* not the nop, which only one way passes, nor the second jump */
    {"nearest", "push %rbx; mov %rdi,%rbx; nop; nop; mov %rbx,%rax; pop %rbx; ret", 5, OTP_RESULT_BX},
    {"behind_the_copy", "push %rbx; mov %rdi,%rax; nop; pop %rbx; ret", 4, OTP_RESULT_AX},
    {"high_register", "push %r15; mov %rdi,%r15; nop; mov %r15,%rax; pop %r15; ret", 5, OTP_RESULT_R15},
    {"entered_from_before", "push %rbx; mov %rdi,%rbx; test %rsi,%rsi; jne 1f; nop; inc %rcx; 1: mov %rbx,%rax; pop %rbx; ret", 7,
     OTP_RESULT_BX}, /* the nop stands nearer, and is jumped over */
    {"changed", "push %rbx; mov %rdi,%rbx; nop; inc %rbx; mov %rbx,%rax; pop %rbx; ret", -1, 0},
    {"set_by_a_call", "push %rbx; call jump_before; pop %rbx; ret", -1, 0},
    {"copied_on_one_way", "push %rbx; mov %rdi,%rbx; test %rsi,%rsi; jne 1f; mov %rbx,%rax; 1: pop %rbx; ret", -1, 0},
    {"two_returns", "test %rdi,%rdi; je 1f; mov %rsi,%rax; nop; ret; 1: mov %rdx,%rax; nop; ret", -1, 0},
    {"tail_call", "push %rbx; mov %rdi,%rbx; test %rsi,%rsi; jne nearest; nop; mov %rbx,%rax; pop %rbx; ret", -1, 0},
    {"by_memory", "push %rbx; test %rdi,%rdi; je 1f; jmp *(%rdi); 1: nop; mov %rbx,%rax; pop %rbx; ret", -1, 0},
    {"by_an_unknown_table", "push %rbx; test %rdi,%rdi; je 1f; jmp *%rdi; 1: nop; mov %rbx,%rax; pop %rbx; ret", -1, 0},
    {"by_a_table", "push %rbx; mov %rdi,%rbx; lea 9f(%rip),%rdx; movslq (%rdx,%rsi,4),%rax; add %rdx,%rax; jmp *%rax;"
     "1: inc %rbx; 2: nop; mov %rbx,%rax; pop %rbx; ret; .pushsection .rodata; 9: .long 1b-9b, 2b-9b; .popsection", 23, OTP_RESULT_BX},
    {"by_a_table_to_the_end", "push %rbx; mov %rdi,%rbx; lea 9f(%rip),%rdx; movslq (%rdx,%rsi,4),%rax; add %rdx,%rax; jmp *%rax;"
     "1: nop; 2: mov %rbx,%rax; pop %rbx; ret; .pushsection .rodata; 9: .long 1b-9b, 2b-9b; .popsection", -1, 0},
    {"loop", "push %rbx; mov %rdi,%rbx; 1: nop; dec %rsi; jnz 1b; mov %rbx,%rax; pop %rbx; ret", -1, 0},
    {"guarded", "push %rbx; mov %rdi,%rbx; mov (%rsp),%rdx; sub %fs:0x28,%rdx; jne 1f; mov %rbx,%rax; pop %rbx; ret;"
     "1: call __stack_chk_fail@plt", 17, OTP_RESULT_BX},
    {"guarded_by_another", "push %rbx; mov %rdi,%rbx; mov (%rsp),%rdx; sub %fs:0x28,%rdx; jne 1f; mov %rbx,%rax; pop %rbx; ret;"
     "1: call puts@plt; jmp 1b", -1, 0},
    {"apart", "push %rbx; mov %rdi,%rbx; test %rsi,%rsi; jne apart_cold; 2: nop; mov %rbx,%rax; pop %rbx; ret;"
     ".pushsection .text.unlikely,\"ax\"; apart_cold: .cfi_startproc; inc %rbx; jmp 2b; .cfi_endproc; .popsection", 13, OTP_RESULT_BX},
    {"back_into_the_end", "push %rbx; mov %rdi,%rbx; test %rsi,%rsi; jne back_cold; nop; 2: mov %rbx,%rax; pop %rbx; ret;"
     ".pushsection .text.unlikely,\"ax\"; back_cold: .cfi_startproc; inc %rbx; jmp 2b; .cfi_endproc; .popsection", -1, 0},
    {"returns_apart", "push %rbx; mov %rdi,%rbx; test %rsi,%rsi; jne other_cold; nop; mov %rbx,%rax; pop %rbx; ret;"
     ".pushsection .text.unlikely,\"ax\"; other_cold: .cfi_startproc; mov %rbx,%rax; pop %rbx; ret; .cfi_endproc; .popsection", -1, 0},
    {"loops_past_a_place", "push %rbx; mov %rdi,%rbx; test %rsi,%rsi; je 3f; inc %rdx; 2: loop 1f; 3: test %rdx,%rdx; je 1f; inc %rdx;"
     "1: mov %rbx,%rax; pop %rbx; ret", 7, OTP_RESULT_BX}, /* not the second je */
    {"table_and_tail_call", "push %rbx; mov %rdi,%rbx; lea 9f(%rip),%rdx; movslq (%rdx,%rsi,4),%rax; add %rdx,%rax; jmp *%rax;"
     "1: mov (%rdi),%rax; pop %rbx; jmp *%rax; 2: nop; mov %rbx,%rax; pop %rbx; ret; .pushsection .rodata; 9: .long 1b-9b, 2b-9b; .popsection", -1, 0},
    {"table_and_labels", "push %rbx; mov %rdi,%rbx; lea 9f(%rip),%rdx; movslq (%rdx,%rsi,4),%rax; add %rdx,%rax; jmp *%rax;"
     "1: lea 8f(%rip),%rdx; mov (%rdx,%rsi,8),%rax; jmp *%rax; 3: nop; 2: mov %rbx,%rax; pop %rbx; ret; .pushsection .rodata;"
     "9: .long 1b-9b, 3b-9b; .popsection; .pushsection .data.rel.ro,\"aw\"; .balign 8; 8: .quad 2b; .popsection", -1, 0},
    {"table_over_a_part", "push %rbx; mov %rdi,%rbx; lea 9f(%rip),%rdx; movslq (%rdx,%rsi,4),%rax; add %rdx,%rax; jmp *%rax;"
     "1: inc %rbx; nop; 2: mov %rbx,%rax; pop %rbx; ret; .pushsection .text.unlikely,\"ax\"; over_cold: .cfi_startproc; call abort@plt;"
     ".cfi_endproc; .popsection; .pushsection .rodata; 9: .long 1b-9b, over_cold-9b, 2b-9b; .popsection", -1, 0},
    {"part_by_table_alone", "push %rbx; mov %rdi,%rbx; lea 9f(%rip),%rdx; movslq (%rdx,%rsi,4),%rax; add %rdx,%rax; jmp *%rax;"
     "1: inc %rbx; nop; 2: mov %rbx,%rax; pop %rbx; ret; .pushsection .text.unlikely,\"ax\"; alone_cold: .cfi_startproc; call puts@plt;"
     "jmp 2b; .cfi_endproc; .popsection; .pushsection .rodata; 9: .long 1b-9b, alone_cold-9b; .popsection", -1, 0},
    {"long_table", "push %rbx; mov %rdi,%rbx; lea 9f(%rip),%rdx; movslq (%rdx,%rsi,4),%rax; add %rdx,%rax; jmp *%rax;"
     "1: nop; 2: mov %rbx,%rax; pop %rbx; ret; .pushsection .rodata; 9: .rept 4096; .long 1b-9b; .endr; .long 2b-9b; .popsection", -1, 0},
    {"entered_by_unwinding", "push %rbx; mov %rdi,%rbx; nop; 2: mov %rbx,%rax; pop %rbx; ret; .pushsection .text.unlikely,\"ax\";"
     "pad_cold: .cfi_startproc; call puts@plt; jmp 2b; .cfi_endproc; .popsection", -1, 0},
    {"cmpxchg", "mov (%rdi),%rax; nop; lock cmpxchg %rsi,(%rdi); ret", -1, 0},
    {"xlat", "mov %rdi,%rax; nop; xlatb; ret", -1, 0},
    {"never", "push %rbx; 1: jmp 1b", -1, 0},
    {"undecodable", ".byte 0x06,0x06; ret", -1, 0},
};

enum { NCASES = sizeof cases / sizeof *cases };

static void write_cases(FILE *file)
{
    for (int i = 0; i < NCASES; i++)
        fprintf(file, ".balign 16, 0xcc\n.globl %s\n.type %s, @function\n%s: .cfi_startproc\n%s\n.cfi_endproc\n.size %s, . - %s\n",
                cases[i].name, cases[i].name, cases[i].name, cases[i].code, cases[i].name, cases[i].name);
    fprintf(file, ".section .rodata\n.long 0\n"); /* the last table ends there */
}

START_TEST(test_otp_exit_each_case)
{
    struct otp_symbols *symbols = support_assemble(write_cases);

    for (int i = 0; i < NCASES; i++) {
        struct otp_place place;
        struct otp_site site = {0};
        char why[128] = "";
        int err;

        ck_assert_int_eq(otp_symbols_find(symbols, cases[i].name, &place), 0);
        err = otp_exit(otp_symbols_image(symbols), &place, &site, why, sizeof why);
        if (cases[i].at < 0) {
            ck_assert_msg(err == -ENOEXEC && *why && !strchr(why, '\n'), "%s: %d at +%u %s", cases[i].name, err, site.slid,
                          site.instruction);
            continue;
        }
        ck_assert_msg(!err, "%s: %s", cases[i].name, why);
        ck_assert_msg((int)site.slid == cases[i].at && site.result == cases[i].result && site.cost == OTP_COST_EMULATED,
                      "%s: +%u %s, %d", cases[i].name, site.slid, site.instruction, site.result);
        ck_assert_uint_eq(site.address, place.address + site.slid);
        ck_assert_uint_eq(site.offset, otp_image_offset(otp_symbols_image(symbols), site.address));
    }
    otp_symbols_free(symbols);
}
END_TEST

START_TEST(test_otp_exit_refuses_what_is_no_function)
{
    struct otp_symbols *symbols = support_assemble(write_cases);
    struct otp_place place;
    struct otp_site site;
    char why[128];

    for (const uint64_t *at = (const uint64_t[]){0, 0x10, 1ul << 40, UINT64_MAX - 3, UINT64_MAX, 1}; *at != 1; at++)
        for (const uint64_t *size = (const uint64_t[]){0, 16, 1 << 20, UINT64_MAX, 1}; *size != 1; size++) {
            place = (struct otp_place){.address = *at, .size = *size};
            ck_assert_int_eq(otp_exit(otp_symbols_image(symbols), &place, &site, why, sizeof why), -ENOEXEC);
        }
    otp_symbols_free(symbols);
}
END_TEST

Suite *otp_exit_suite(void)
{
    Suite *suite = suite_create("otp_exit");
    TCase *exits = tcase_create("exit");

    tcase_set_timeout(exits, 60);
    tcase_add_test(exits, test_otp_exit_each_case);
    tcase_add_test(exits, test_otp_exit_refuses_what_is_no_function);
    suite_add_tcase(suite, exits);
    return suite;
}
