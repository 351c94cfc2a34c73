/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: providers.def is the only list of providers. */
#include "provider.h"

#include <string.h>

#define PROVIDER(stem, name, entry, text) extern const struct provider_ops provider_##stem##_ops;
#include "providers.def"

static const struct provider providers[] = {
#define PROVIDER(stem, name, entry, text) {name, entry, text, &provider_##stem##_ops},
#include "providers.def"
};

static const struct {
    const struct provider_ops *ops;
    const char *probe, *why;
} silents[] = {
#define SILENT(stem, probe, why) {&provider_##stem##_ops, #probe, why},
#include "providers.def"
};

static const char *const probe_names[] = {
#define PROBE(probe, family, nargs, text) #probe,
#include "../vm/probes.def"
};

const struct provider *provider_find(const struct elf_file *elf)
{
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++)
        if (providers[i].ops->recognise(elf))
            return &providers[i];
    return NULL;
}

size_t provider_count_probes(const struct provider *provider, const struct elf_file *elf)
{
    size_t found = 0;

    for (size_t i = 0; i < sizeof probe_names / sizeof *probe_names; i++) {
        struct provider_site site;
        size_t cursor = 0;

        found += provider->ops->next_site(elf, probe_names[i], &cursor, &site) == 1;
    }
    return found;
}

const char *provider_silent(const struct provider *provider, const char *probe)
{
    for (size_t i = 0; i < sizeof silents / sizeof *silents; i++)
        if (silents[i].ops == provider->ops && !strcmp(silents[i].probe, probe))
            return silents[i].why;
    return NULL;
}
