/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a target offers decides how it is watched. A provider recognises an ELF file, knows
 * the sites of a probe in it, and where the arguments stand there.
 */
#ifndef TOOLS_PROVIDER_H
#define TOOLS_PROVIDER_H

#include "common/wire_user.h"
#include "elf_file.h"

/* Where to put one uprobe, and what the BPF program must know of the place. */
struct provider_site {
    uint64_t offset, semaphore; /* in the file; semaphore 0: none */
    struct wire_spec spec;
    int bad_args; /* arguments that we cannot fetch: reading them counts as a loss */
};

struct provider {
    const char *name;
    bool hooks; /* a stock emulator */
    const char *text;
    const struct provider_ops *ops;
};

struct provider_ops {
    bool (*recognise)(const struct elf_file *elf);
    /* The sites of `probe`, from number *cursor on: 1 and one site, or 0 when there is none left. */
    int (*next_site)(const struct elf_file *elf, const char *probe, size_t *cursor,
                     struct provider_site *out);
    /* The release of the VM, "" when unknown. */
    void (*release)(const struct elf_file *elf, char *out, size_t size);
};

/* The provider for this file, NULL when it is no Erlang VM. */
const struct provider *provider_find(const struct elf_file *elf);
/* Why the note of the probe does not tell all in this file; NULL when it does. */
const char *provider_silent(const struct provider *provider, const struct elf_file *elf, const char *probe);

/* For providers that stand on notes. */
int provider_usdt_next_site(const struct elf_file *elf, const char *probe, size_t *cursor,
                            struct provider_site *out);
/* One argument as a note describes it ("-4@-24(%rbp)"). Returns bytes read, 0 when not understood. */
size_t provider_usdt_parse_arg(const char *text, struct wire_arg *out);

#endif
