/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the cookie of a link is the slot of its site's description in the map "specs". */
#include "attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "uprobe.h"

int attach_explain(int err, const char *what)
{
    if (err == -EPERM || err == -EACCES)
        return fail(err, "%s: not permitted; run as root, or see erlsnoop doctor", what);
    if (err == -ENOTSUP)
        return fail(err, "%s: this kernel has no uprobes (CONFIG_UPROBE_EVENTS); see erlsnoop doctor", what);
    if (err == -EMFILE)
        return fail(err, "%s: too many open files; raise ulimit -n", what);
    return fail(err, "%s: %s; see erlsnoop doctor", what, strerror(-err));
}

static const char *const probe_names[] = {
#define PROBE(probe, family, nargs, text) #probe,
#include "../vm/probes.def"
};
enum { NPROBES = sizeof probe_names / sizeof *probe_names };

/* Where the arguments of a probe stand, when all its sites agree; else all zero. */
static struct wire_spec find_fixed(const struct target *t, const char *probe)
{
    struct wire_spec fixed = {0};
    struct provider_site site;
    size_t cursor = 0, n = 0;

    while (t->provider->ops->next_site(t->elf, probe, &cursor, &site) == 1) {
        if (n++ && memcmp(&site.spec, &fixed, sizeof fixed))
            return (struct wire_spec){0};
        fixed = site.spec;
    }
    return fixed;
}

void attach_prepare(struct attach *a, struct bpf_object *object, const struct target *only)
{
    struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.sites");
    struct wire_spec fixed[NPROBES] = {0};
    struct bpf_program *program;

    a->object = object;
    a->multi = !getenv("ERLSNOOP_PERF_EVENTS") && uprobe_has_many();
    for (size_t i = 0; only && i < NPROBES; i++)
        fixed[i] = find_fixed(only, probe_names[i]);
    if (!map || bpf_map__set_initial_value(map, fixed, sizeof fixed)) {
        fail(-EINVAL, "the program knows other probes than this one");
        abort();
    }
    bpf_object__for_each_program(program, object)
        if (a->multi)
            bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)UPROBE_ATTACH_MANY);
}

static int keep_link(struct attach *a, int link)
{
    int *links = link < 0 ? NULL : realloc(a->links, (a->nlinks + 1) * sizeof *links);

    if (link < 0)
        return attach_explain(link, "cannot attach a probe");
    if (!links) {
        close(link);
        return fail(-ENOMEM, "out of memory");
    }
    a->links = links;
    a->links[a->nlinks++] = link;
    return 0;
}

static int link_places(struct attach *a, int program, const char *path, int pid,
                       const struct uprobe_place *places, size_t n)
{
    int err = 0;

    if (a->multi)
        return keep_link(a, uprobe_link_many(program, path, pid, places, n));
    for (size_t i = 0; i < n && !err; i++)
        err = keep_link(a, uprobe_link_one(program, path, pid, &places[i]));
    return err;
}

static int describe_site(struct attach *a, const struct provider_site *site, struct uprobe_place *out)
{
    int specs = bpf_object__find_map_fd_by_name(a->object, "specs");

    if (a->nspecs >= WIRE_MAX_SPECS)
        return fail(-E2BIG, "more than %d probe sites at once", WIRE_MAX_SPECS);
    if (bpf_map_update_elem(specs, &a->nspecs, &site->spec, BPF_ANY))
        return attach_explain(-errno, "cannot describe a probe site");
    *out = (struct uprobe_place){site->offset, site->semaphore, a->nspecs++};
    return 0;
}

/* Returns how many sites, described, at *places. Owns: the caller frees *places, after a failure too. */
static int find_places(struct attach *a, const struct target *t, const char *probe, struct uprobe_place **places)
{
    struct provider_site site;
    size_t cursor = 0;
    int n = 0, err = 0;

    while (!err && t->provider->ops->next_site(t->elf, probe, &cursor, &site) == 1) {
        struct uprobe_place *more = realloc(*places, (size_t)(n + 1) * sizeof *more);

        if (!more)
            return fail(-ENOMEM, "out of memory");
        *places = more;
        err = describe_site(a, &site, &more[n++]);
        if (site.bad_args)
            note("%s of '%s': %d arguments cannot be read", probe, t->name, site.bad_args);
    }
    return err ? err : n;
}

/* All sites of one program's probe. Returns how many. */
static int attach_program(struct attach *a, struct bpf_program *program, const struct target *t, int pid)
{
    const char *probe = bpf_program__name(program) + strlen(t->provider->entry);
    const char *silent = provider_silent(t->provider, probe);
    struct uprobe_place *places = NULL;
    int n = find_places(a, t, probe, &places);
    int err = n > 0 ? link_places(a, bpf_program__fd(program), t->path, pid, places, (size_t)n) : n;

    free(places);
    if (err)
        return err;
    if (n && silent)
        note("%s of '%s' (%s): %s", probe, t->name, t->provider->name, silent);
    else if (!n)
        note("'%s' (%s) has no probe %s", t->name, t->provider->name, probe);
    return n;
}

static void keep_first(struct attach *a, size_t nlinks)
{
    while (a->nlinks > nlinks)
        close(a->links[--a->nlinks]);
}

int attach_target(struct attach *a, const struct target *t, int pid)
{
    struct bpf_program *program;
    size_t entry = strlen(t->provider->entry), nlinks = a->nlinks;
    uint32_t nspecs = a->nspecs;
    int sites = 0;

    if (!t->elf->nnotes)
        return 0;
    bpf_object__for_each_program(program, a->object) {
        if (!bpf_program__autoload(program) ||
            strncmp(bpf_program__name(program), t->provider->entry, entry))
            continue;

        int n = attach_program(a, program, t, pid);

        if (n < 0) {
            keep_first(a, nlinks);
            a->nspecs = nspecs;
            return n;
        }
        sites += n;
    }
    return sites;
}

void attach_clear(struct attach *a)
{
    keep_first(a, 0);
    free(a->links);
    a->links = NULL;
}
