/* SPDX-License-Identifier: Apache-2.0 */
/* Notes on nops of five bytes stay only where their function keeps nothing below the stack pointer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "target/target.h"

/*
 * A program with a note in a function that calls none and keeps an array, in one that calls another, and in one that
 * keeps nothing.
 */
static const char program[] =
    "#include <sys/sdt.h>\n"
    "#ifdef WIDE\n"
    "#undef _SDT_NOP\n"
    "#define _SDT_NOP .byte 0x0f; .byte 0x1f; .byte 0x44; .byte 0; .byte 0\n"
    "#endif\n"
    "int other(int);\n"
    "int keeps(int n) { volatile int kept[8]; kept[n & 7] = n; STAP_PROBE1(erlang, process__spawn, n); return kept[3]; }\n"
    "int calls(int n) { volatile int kept[8]; kept[n & 7] = n; STAP_PROBE1(erlang, process__exit, n); return other(n) + kept[3]; }\n"
    "int plain(int n) { STAP_PROBE1(erlang, message__send, n); return n + 1; }\n"
    "int other(int n) { return n; }\n"
    "int main(int argc, char **argv) { return keeps(argc) + calls(argc) + plain(argc) == 0; }\n";

/* Opens the program as it is compiled with these flags; 1 for each note that is left, by the order of the functions. */
static void compile_and_open(const char *flags, struct target *t, bool notes[3])
{
    static const char *const names[] = {"process__spawn", "process__exit", "message__send"};
    char dir[] = "/tmp/erlsnoop-zone-XXXXXX", path[64], command[256];
    FILE *file;

    ck_assert_ptr_ne(mkdtemp(dir), NULL);
    snprintf(path, sizeof path, "%s/a.c", dir);
    file = fopen(path, "w");
    ck_assert_ptr_ne(file, NULL);
    fputs(program, file);
    fclose(file);
    snprintf(command, sizeof command, "cd %s && gcc -O2 -fno-inline -fno-ipa-cp %s -o a a.c", dir, flags);
    ck_assert_int_eq(system(command), 0);
    path[strlen(path) - 2] = '\0';
    ck_assert_int_eq(target_open_file(path, t), 0);
    for (int i = 0; i < 3; i++) {
        notes[i] = false;
        for (size_t k = 0; k < t->elf->nnotes; k++)
            notes[i] |= !strcmp(t->elf->notes[k].name, names[i]);
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(test_red_zone_drops_wide_notes_that_could_overwrite)
{
    struct target t;
    bool notes[3];

    compile_and_open("-DWIDE", &t, notes);
    ck_assert(!notes[0] && notes[1] && notes[2]);
    ck_assert_int_eq(t.elf->unsafe, 1);
    target_close(&t);
}
END_TEST

/* Compiled without a red zone, or with notes of one byte, which stay traps. */
START_TEST(test_red_zone_keeps_notes_that_are_safe)
{
    static const char *const flags[] = {"-DWIDE -mno-red-zone", "-DWIDE -mno-red-zone -fno-omit-frame-pointer", ""};
    struct target t;
    bool notes[3];

    compile_and_open(flags[_i], &t, notes);
    ck_assert(notes[0] && notes[1] && notes[2]);
    ck_assert_int_eq(t.elf->unsafe, 0);
    target_close(&t);
}
END_TEST

/* Without tables for unwinding nobody can tell where a function begins and ends. */
START_TEST(test_red_zone_drops_what_it_cannot_tell)
{
    struct target t;
    bool notes[3];

    compile_and_open("-DWIDE -fno-asynchronous-unwind-tables", &t, notes);
    ck_assert_int_eq(t.elf->unsafe, 3);
    target_close(&t);
}
END_TEST

Suite *red_zone_suite(void)
{
    Suite *suite = suite_create("red_zone");
    TCase *notes = tcase_create("notes");

    tcase_set_timeout(notes, 30);
    tcase_add_test(notes, test_red_zone_drops_wide_notes_that_could_overwrite);
    tcase_add_loop_test(notes, test_red_zone_keeps_notes_that_are_safe, 0, 3);
    tcase_add_test(notes, test_red_zone_drops_what_it_cannot_tell);
    suite_add_tcase(suite, notes);
    return suite;
}
