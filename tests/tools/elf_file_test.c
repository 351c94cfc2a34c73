/* SPDX-License-Identifier: Apache-2.0 */
/* elf_file on good and on damaged files. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/elf_file.h"
#include "target/provider.h"
#include "support.h"

static char *emitter_bytes(size_t *size)
{
    char path[4096];
    const char *build = getenv("BUILD");
    FILE *file;
    char *bytes = malloc(1 << 20);

    snprintf(path, sizeof path, "%s/tests/emitter", build ? build : "build");
    file = fopen(path, "r");
    ck_assert(file != NULL && bytes != NULL);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void find_sites(const struct provider *provider, const struct elf_file *elf)
{
    static const char *const probes[] = {
#define PROBE(probe, family, nargs, watch, text) #probe,
#include "../../vm/probes.def"
    };

    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        struct provider_site site;

        for (size_t cursor = 0; provider->ops->next_site(elf, probes[i], &cursor, &site) == 1;)
            ck_assert_uint_le(cursor, elf->nnotes);
    }
}

/* Opens the bytes as a file, asks all that tools ask, and returns how many notes there were, or -errno. */
static long look_at(const char *bytes, size_t size)
{
    char path[] = "/tmp/erlsnoop-elf-XXXXXX", text[32];
    int fd = mkstemp(path), err;
    struct elf_file *elf;
    const struct provider *provider;
    long n;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    err = elf_file_new(path, &elf);
    unlink(path);
    if (err)
        return err;
    provider = provider_find(elf);
    if (provider) {
        find_sites(provider, elf);
        provider->ops->release(elf, text, sizeof text);
    }
    n = (long)elf->nnotes;
    elf_file_free(elf);
    return n;
}

START_TEST(test_elf_file_reads_every_note)
{
    size_t size;
    char *bytes = emitter_bytes(&size);

    ck_assert_int_eq(look_at(bytes, size), SUPPORT_NPROBES);
    free(bytes);
}
END_TEST

START_TEST(test_elf_file_missing_or_foreign_is_an_error)
{
    struct elf_file *elf;

    ck_assert_int_eq(elf_file_new("/nowhere/at/all", &elf), -ENOENT);
    ck_assert_int_eq(elf_file_new("/tmp", &elf), -ENOEXEC);
    ck_assert_int_eq(look_at("", 0), -ENOEXEC);
    ck_assert_int_eq(look_at("#!/bin/sh\n", 10), -ENOEXEC);
    ck_assert_int_eq(look_at("\177ELF", 4), -ENOEXEC);
}
END_TEST

START_TEST(test_elf_file_does_not_wait_for_a_fifo)
{
    char dir[] = "/tmp/erlsnoop-elf-XXXXXX", path[64];
    struct elf_file *elf;

    ck_assert_ptr_ne(mkdtemp(dir), NULL);
    snprintf(path, sizeof path, "%s/fifo", dir);
    ck_assert_int_eq(mkfifo(path, 0700), 0);
    ck_assert_int_eq(elf_file_new(path, &elf), -ENOEXEC);
    unlink(path);
    rmdir(dir);
}
END_TEST

START_TEST(test_elf_file_survives_truncation)
{
    size_t size;
    char *bytes = emitter_bytes(&size);

    for (size_t n = 0; n < size; n += n < 512 ? 7 : size / 97)
        ck_assert_int_le(look_at(bytes, n), SUPPORT_NPROBES);
    free(bytes);
}
END_TEST

START_TEST(test_elf_file_survives_random_damage)
{
    size_t size;
    char *bytes = emitter_bytes(&size), *bad = malloc(size);
    unsigned seed = 23;

    for (int round = 0; round < 400; round++) {
        size_t headers = size > 4096 && round % 2 ? 4096 : size;

        memcpy(bad, bytes, size);
        for (int i = 0; i < 1 + round % 64; i++)
            bad[(size_t)rand_r(&seed) % headers] = (char)rand_r(&seed);
        if (round % 4 == 3) /* the section headers, at the end of the file */
            for (int i = 0; i < 16; i++)
                bad[size - 1 - (size_t)rand_r(&seed) % 2048] = (char)rand_r(&seed);
        look_at(bad, size);
    }
    free(bytes);
    free(bad);
}
END_TEST

/* The section of that name. */
static Elf64_Shdr *find_section(char *bytes, const char *name)
{
    Elf64_Ehdr *eh = (Elf64_Ehdr *)bytes;
    Elf64_Shdr *sh = (Elf64_Shdr *)(bytes + eh->e_shoff);

    for (int i = 0; i < eh->e_shnum; i++)
        if (!strcmp(bytes + sh[eh->e_shstrndx].sh_offset + sh[i].sh_name, name))
            return &sh[i];
    ck_abort_msg("no section %s", name);
    return NULL;
}

/* Adds `by` to the word of each description: its site (0) or its semaphore (2). */
static void shift_notes(char *bytes, int word, int by)
{
    Elf64_Shdr *section = find_section(bytes, ".note.stapsdt");
    char *end = bytes + section->sh_offset + section->sh_size;

    for (char *at = bytes + section->sh_offset; at < end;) {
        Elf64_Nhdr *note = (Elf64_Nhdr *)at;
        uint64_t *description = (uint64_t *)(at + sizeof *note + (note->n_namesz + 3) / 4 * 4), value;

        memcpy(&value, description + word, sizeof value);
        value += (uint64_t)by;
        memcpy(description + word, &value, sizeof value);
        at = (char *)description + (note->n_descsz + 3) / 4 * 4;
    }
}

/* What a section says it holds is read into memory: it is passed over when it is larger than any that is needed, or may become so. */
START_TEST(test_elf_file_passes_over_sections_without_bounds)
{
    size_t size;
    char *bytes = emitter_bytes(&size);
    Elf64_Shdr *notes = find_section(bytes, ".note.stapsdt"), *strings = find_section(bytes, ".shstrtab");
    size_t more = (size_t)256 << 20;
    char *large = calloc(1, size + more);

    ck_assert_ptr_nonnull(large);
    memcpy(large, bytes, size);
    find_section(large, ".note.stapsdt")->sh_size += more - notes->sh_offset;
    ck_assert_int_eq(look_at(large, size + more), 0);
    strings->sh_flags |= SHF_COMPRESSED;
    ck_assert_int_eq(look_at(bytes, size), 0);
    free(large);
    free(bytes);
}
END_TEST

/* A probe that is no nop would break the code it stands in, a semaphore that is none other data. */
START_TEST(test_elf_file_takes_no_note_that_was_shifted)
{
    size_t size;
    char *bytes = emitter_bytes(&size);
    int semaphores = (int)find_section(bytes, ".probes")->sh_size;

    for (const int *by = (const int[]){1, -1, 2, 1 << 20, 0}; *by; by++) {
        shift_notes(bytes, 0, *by);
        ck_assert_int_eq(look_at(bytes, size), 0);
        shift_notes(bytes, 0, -*by);
    }
    for (const int *by = (const int[]){1, semaphores, -semaphores, 0}; *by; by++) {
        shift_notes(bytes, 2, *by);
        ck_assert_int_eq(look_at(bytes, size), 0);
        shift_notes(bytes, 2, -*by);
    }
    ck_assert_int_eq(look_at(bytes, size), SUPPORT_NPROBES);
    free(bytes);
}
END_TEST

Suite *elf_file_suite(void)
{
    Suite *suite = suite_create("elf_file");
    TCase *files = tcase_create("files");

    tcase_set_timeout(files, 60);
    tcase_add_test(files, test_elf_file_reads_every_note);
    tcase_add_test(files, test_elf_file_missing_or_foreign_is_an_error);
    tcase_add_test(files, test_elf_file_does_not_wait_for_a_fifo);
    tcase_add_test(files, test_elf_file_survives_truncation);
    tcase_add_test(files, test_elf_file_survives_random_damage);
    tcase_add_test(files, test_elf_file_takes_no_note_that_was_shifted);
    tcase_add_test(files, test_elf_file_passes_over_sections_without_bounds);
    suite_add_tcase(suite, files);
    return suite;
}
