/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the cookie of a link is the slot of its site's description in the map "specs". */
#include "attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

int attach_explain(int err, const char *what)
{
    if (err == -EPERM || err == -EACCES)
        return fail(err, "%s: not permitted; run as root, or see erlsnoop doctor", what);
    return fail(err, "%s: %s; see erlsnoop doctor", what, strerror(-err));
}

static int attach_site(struct attach *a, struct bpf_program *program, const struct target *t, int pid,
                       const struct provider_site *site)
{
    LIBBPF_OPTS(bpf_uprobe_opts, opts, .ref_ctr_offset = site->semaphore, .bpf_cookie = a->nspecs);
    struct bpf_link **links = realloc(a->links, (a->nlinks + 1) * sizeof *links), *link;
    int specs = bpf_object__find_map_fd_by_name(a->object, "specs");

    if (!links)
        return fail(-ENOMEM, "out of memory");
    a->links = links;
    if (a->nspecs >= WIRE_MAX_SPECS)
        return fail(-E2BIG, "more than %d probe sites at once", WIRE_MAX_SPECS);
    if (bpf_map_update_elem(specs, &a->nspecs, &site->spec, BPF_ANY))
        return attach_explain(-errno, "cannot describe a probe site");
    link = bpf_program__attach_uprobe_opts(program, pid, t->path, site->offset, &opts);
    if (!link)
        return attach_explain(-errno, "cannot attach a probe");
    a->links[a->nlinks++] = link;
    a->nspecs++;
    return 0;
}

/* All sites of one program's probe. Returns how many. */
static int attach_program(struct attach *a, struct bpf_program *program, const struct target *t, int pid)
{
    const char *probe = bpf_program__name(program) + strlen(t->provider->entry);
    const char *silent = provider_silent(t->provider, probe);
    struct provider_site site;
    size_t cursor = 0;
    int n = 0;

    while (t->provider->ops->next_site(t->elf, probe, &cursor, &site) == 1) {
        int err = attach_site(a, program, t, pid, &site);

        if (err)
            return err;
        if (site.bad_args)
            note("%s of '%s': %d arguments cannot be read", probe, t->name, site.bad_args);
        n++;
    }
    if (n && silent)
        note("%s of '%s' (%s): %s", probe, t->name, t->provider->name, silent);
    else if (!n)
        note("'%s' (%s) has no probe %s", t->name, t->provider->name, probe);
    return n;
}

int attach_target(struct attach *a, const struct target *t, int pid)
{
    struct bpf_program *program;
    size_t entry = strlen(t->provider->entry);
    int sites = 0;

    if (!t->elf->nnotes)
        return 0;
    bpf_object__for_each_program(program, a->object) {
        if (!bpf_program__autoload(program) ||
            strncmp(bpf_program__name(program), t->provider->entry, entry))
            continue;

        int n = attach_program(a, program, t, pid);

        if (n < 0)
            return n;
        sites += n;
    }
    return sites;
}

void attach_clear(struct attach *a)
{
    for (size_t i = 0; i < a->nlinks; i++)
        bpf_link__destroy(a->links[i]);
    free(a->links);
    a->links = NULL;
    a->nlinks = 0;
}
