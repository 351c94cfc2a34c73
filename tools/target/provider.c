/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: providers.def is the only list of providers. */
#include "provider_otp.h"

#include <string.h>

#define PROVIDER(stem, name, hooks, text) extern const struct provider_ops provider_##stem##_ops;
#include "providers.def"

static const struct provider providers[] = {
#define PROVIDER(stem, name, hooks, text) {name, hooks, text, &provider_##stem##_ops},
#include "providers.def"
};

static const struct {
    const struct provider_ops *ops;
    bool jit;
    const char *probe, *why;
} silents[] = {
#define SILENT(stem, jit, probe, why) {&provider_##stem##_ops, jit, #probe, why},
#include "providers.def"
};

const struct provider *provider_find(const struct elf_file *elf)
{
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++)
        if (providers[i].ops->recognise(elf))
            return &providers[i];
    return NULL;
}

const char *provider_silent(const struct provider *provider, const struct elf_file *elf, const char *probe)
{
    for (size_t i = 0; i < sizeof silents / sizeof *silents; i++)
        if (silents[i].ops == provider->ops && !strcmp(silents[i].probe, probe) &&
            (!silents[i].jit || provider_otp_jit(elf)))
            return silents[i].why;
    return NULL;
}
