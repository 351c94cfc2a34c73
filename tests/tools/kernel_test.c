/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that lack something: what needs it is refused in one line, the rest works. A library put before libc,
 * through whose syscall() libbpf asks the kernel, plays the older one.
 */
#include <string.h>

#include "support.h"

/*
 * `helper`: libbpf's question after the helper of that number, a program of its call alone, is answered with no; 0:
 * none. `late`: late maps are refused.
 */
static const struct support_run *run_lacking(int helper, bool late, const char *commands)
{
    return support_run("export ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0\n"
                       "cat > older.c <<'END'\n"
                       "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include <linux/bpf.h>\n"
                       "#include <stdio.h>\n#include <string.h>\n"
                       "#include <sys/syscall.h>\n"
                       "static int lacks(const union bpf_attr *a)\n"
                       "{ const struct bpf_insn *code = (const void *)(unsigned long)a->insns;\n"
                       "  if (LATE && !strcmp(a->prog_name, \"late\")) return 1;\n"
                       "  if (!HELPER || a->insn_cnt != 2 || code->code != (BPF_JMP | BPF_CALL) || code->imm != "
                       "HELPER) return 0;\n"
                       "  if (a->log_buf) snprintf((char *)(unsigned long)a->log_buf, a->log_size, \"invalid func "
                       "unknown#%%d\", HELPER);\n"
                       "  return 1; }\n"
                       "long syscall(long n, long a, long b, long c, long d, long e, long f)\n"
                       "{ long (*real)(long, ...) = dlsym(RTLD_NEXT, \"syscall\");\n"
                       "  if (n == SYS_bpf && a == BPF_PROG_LOAD && lacks((const void *)b)) { errno = EINVAL; "
                       "return -1; }\n"
                       "  return real(n, a, b, c, d, e, f); }\n"
                       "END\n"
                       "gcc -shared -fPIC -DHELPER=%d -DLATE=%d -o older.so older.c || exit 99\n"
                       "erl -noinput -eval 'spawn(fun F() -> lists:seq(1, 1000), F() end), file:write_file(\"up\", \"1\").' & p=$!; await up\n"
                       "older() { LD_PRELOAD=$PWD/older.so $ERLSNOOP \"$@\"; }\n%s\nkill $p",
                       helper, late, commands);
}

START_TEST(test_kernel_without_loops_refuses_what_needs_them)
{
    SUPPORT_BPF();
    const struct support_run *r = run_lacking(181 /* bpf_loop */, false,
                                              "older stacks --off-cpu -p $p 0.2 1; echo off $?; older stacks --event send -p $p 0.2 1; echo event $?\n"
                                              "older stacks -p $p 0.2 1 > told; echo cpu $?; older spawns -p $p 0.2 1 > told; echo spawns $?\n"
                                              "older doctor -p $p; echo doctor $?");

    ck_assert_msg(strstr(r->out, "off 1\nevent 1\ncpu 0\nspawns 0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->err, "has no loops in programs: Linux 5.17 or later is needed for stacks --off-cpu and --event"), 2);
    ck_assert(strstr(r->out, "loops in programs       no  for stacks") &&
              strstr(r->out, "stacks    yes   the VM's memory is read; not with --off-cpu"));
    ck_assert(strstr(r->out, "doctor 1\n") != NULL);
}
END_TEST

START_TEST(test_kernel_without_cookies_refuses_every_command)
{
    SUPPORT_BPF();
    const struct support_run *r = run_lacking(174 /* bpf_get_attach_cookie */, false, "older spawns -p $p 0.2 1; echo spawns $?; older efile -p $p 0.2 1; echo efile $?");

    ck_assert_str_eq(r->out, "spawns 1\nefile 1\n");
    ck_assert_int_eq(support_lines(r->err, "Linux 5.15 or later is needed for every command"), 2);
}
END_TEST

START_TEST(test_kernel_without_late_maps_has_stacks)
{
    SUPPORT_BPF();
    const struct support_run *r = run_lacking(0, true, "older stacks --json -p $p 0.5 1");

    ck_assert_int_gt(support_number(r->out, "\"type\":\"stacks\"", "samples"), 0);
}
END_TEST

/* Of a kernel that wants them filled beforehand, no hash that the clock's program looks into is filled late. */
START_TEST(test_kernel_without_late_maps_has_none_under_the_clock)
{
    SUPPORT_BPF();
    const struct support_run *r = run_lacking(0, true,
        "LD_PRELOAD=$PWD/older.so $ERLSNOOP stacks -p $p > told & e=$!; attached $e\n"
        "for f in /proc/$e/fdinfo/*; do grep -q '^prog_type:.7$' $f && id=$(awk '/^prog_id:/ { print $2 }' $f); done\n"
        "for m in $($(command -v bpftool || echo /usr/sbin/bpftool) prog show id $id | sed -n 's/.*map_ids //p' | tr , ' '); do\n"
        "$(command -v bpftool || echo /usr/sbin/bpftool) map show id $m | head -1; done > maps; kill -INT $e; wait $e\n"
        "grep -c ': hash .* flags 0x0$' maps; grep -c ': hash .* flags 0x1$' maps");

    ck_assert_msg(!strcmp(r->out, "2\n0\n"), "%s%s", r->out, r->err);
}
END_TEST

Suite *kernel_suite(void)
{
    Suite *suite = suite_create("kernel");
    TCase *older = tcase_create("older");

    tcase_set_timeout(older, 60);
    tcase_add_test(older, test_kernel_without_loops_refuses_what_needs_them);
    tcase_add_test(older, test_kernel_without_cookies_refuses_every_command);
    tcase_add_test(older, test_kernel_without_late_maps_has_stacks);
    tcase_add_test(older, test_kernel_without_late_maps_has_none_under_the_clock);
    suite_add_tcase(suite, older);
    return suite;
}
