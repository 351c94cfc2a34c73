/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BPF programs put onto the places of targets that a plan names. A program's name says where it
 * goes: on_<probe> the notes of the probe, at_<probe> the entries of the functions that stand for
 * it in a stock emulator, ret_<probe> their returns, out_<probe> where they are left, clock_<name> the
 * clock of every CPU; then_<probe>_<family> goes on where those of the probe end.
 */
#ifndef TOOLS_ATTACH_H
#define TOOLS_ATTACH_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "links.h"
#include "plan.h"

struct attach {
    struct bpf_object *object;
    struct links_set links;
    uint32_t nspecs; /* slots of the map "specs" in use */
    uint32_t nslots; /* of the map "otp_layouts" */
    int slots[OTP_MAX_LAYOUTS]; /* of the map "otp_layouts": the process that has it, 0: free */
    uint64_t clock_hz; /* of programs clock_<name>; 0: they are not attached */
    bool ticking;
};

/* What attaching to a VM came to: how many sites, and its slot of "otp_layouts" where it has a layout. */
struct attach_sites {
    int notes, hooks;
    uint32_t slot;
};

/*
 * Before the load: chooses the kind of links, and when the only target is known (else NULL)
 * tells the programs where its arguments stand. With its plan, when that is final (else NULL),
 * programs that it has no use for are not loaded.
 */
void attach_prepare(struct attach *a, struct bpf_object *object, const struct target *only, const struct plan *plan);
/* Behind the load: the object's bytes, which were read from this program's file, are memory of ours no more. */
void attach_forget_file(const struct bpf_object_skeleton *skeleton);
/* Behind the load: programs that go on where others end are where these look for them. Fails: said. */
int attach_join(const struct bpf_object *object);
/*
 * Attaches to the notes that the plan wants, for process `pid` only or for all (-1). `to`: the links of `a`, or groups
 * begun for them (links_begin). Notes on standard error what the target lacks. Returns how many sites. Fails: said, but
 * for -ESRCH: the process has ended.
 */
int attach_notes(struct attach *a, struct links_set *to, const struct target *target, const struct plan *plan, int pid);
/*
 * Attaches to the hooks that the plan wants in the target's process, which tell nothing before attach_describe, and to
 * clocks, each a site; its slot of "otp_layouts" at *slot. Returns how many sites; when there are some, notes on
 * standard error what else the target lacks. `to`, and fails, as attach_notes.
 */
int attach_hooks(struct attach *a, struct links_set *to, const struct target *target, const struct plan *plan,
                 uint32_t *slot);
/* Groups begun for the links of `a` join them. Fails as attach_notes. */
int attach_join_links(struct attach *a, struct links_opening *o);
/* From here on the hooks in the plan's process tell events. Fails: said. */
int attach_describe(struct attach *a, const struct plan *plan, uint32_t slot);
/*
 * How the events are had that the programs of an opened object want: by hooks when some are, else by notes. PLAN_NONE:
 * one at least is not had, `*lacks`; or none is wanted (PLAN_NEVENTS).
 */
enum plan_source attach_serves(const struct bpf_object *object, const struct target *target, const struct plan *plan,
                               enum plan_probe *lacks);
/* Why the first event that the programs want is not told; NULL when none is known to lack. Borrowed from the plan. */
const char *attach_lacks(const struct attach *a, const struct plan *plan);
/* Whether it has hooks of its own. */
bool attach_is_hooked(const struct attach *a, int pid);
/* Removes the hooks of processes, in the background, and what describes them. */
void attach_drop(struct attach *a, const struct vm_set *vms);
/* Takes the probes of events away for a while; clocks, and what names depend on, stay. */
void attach_pause(struct attach *a);
/* Puts them back. Fails: said. */
int attach_resume(struct attach *a);
/* Removes every probe; the semaphores fall back to what they were. */
void attach_clear(struct attach *a);
/* From now on libbpf says nothing, but where ERLSNOOP_DEBUG is set. */
void attach_hush(void);
/* The settings of a program that watches that VM, or any (0). */
struct wire_config attach_config(uint32_t vm);
/*
 * Before the load: the constants of that section of the object are those at value. Aborts when they have another size.
 */
void attach_set_constants(struct bpf_object *object, const char *section, const void *value, size_t size);
/* Says why the kernel refused, with what to do. Returns err. */
int attach_explain(int err, const char *what);

#endif
