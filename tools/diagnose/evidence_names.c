/* SPDX-License-Identifier: Apache-2.0 */
/* Who the processes of evidence are, in words. */
#include <stdio.h>
#include <string.h>

#include "evidence.h"
#include "otp/names.h"

enum { NAME_BYTES = 4096 };

const char *evidence_name(const struct evidence *e, const struct snapshot_process *process, char text[EVIDENCE_TEXT])
{
    struct wire_name name;
    char buf[NAME_BYTES];

    if (snapshot_owner(e->snapshot, process, &name))
        snprintf(text, EVIDENCE_TEXT, "%s", names_text(e->names, e->vm, &name, buf, sizeof buf));
    else
        snapshot_pid_text(process->id, text);
    return text;
}

const char *evidence_place(const struct evidence *e, const struct snapshot_process *process, char text[EVIDENCE_TEXT])
{
    if (!snapshot_place(e->snapshot, process, text, EVIDENCE_TEXT))
        snprintf(text, EVIDENCE_TEXT, "code that is gone");
    return text;
}

const struct evidence_process *evidence_find(const struct evidence *e, ev_id id)
{
    struct evidence_process *p;

    HASH_FIND(hh, e->processes, &id, sizeof id, p);
    return p;
}

struct sought {
    ev_id id;
    struct snapshot_process is;
};

static int is_sought(void *ctx, const struct snapshot_process *is)
{
    struct sought *sought = ctx;

    if (is->id != sought->id)
        return 0;
    sought->is = *is;
    return 1;
}

/* False: it has ended. */
static bool find_process(const struct evidence *e, ev_id id, struct snapshot_process *out)
{
    const struct evidence_process *p = evidence_find(e, id);
    struct sought sought = {.id = id};
    struct evidence_parent *parent;
    bool found;

    HASH_FIND(hh, e->parents, &id, sizeof id, parent);
    found = p || (parent && parent->lives) || (id && snapshot_processes(e->snapshot, is_sought, &sought, NULL) == 1);
    *out = p ? p->last : parent && parent->lives ? parent->is : sought.is;
    return found;
}

const char *evidence_name_of(const struct evidence *e, ev_id id, char text[EVIDENCE_TEXT])
{
    struct snapshot_process is;

    if (find_process(e, id, &is))
        return evidence_name(e, &is, text);
    return snapshot_pid_text(id, text);
}

const char *evidence_place_of(const struct evidence *e, ev_id id, char text[EVIDENCE_TEXT])
{
    struct snapshot_process is;

    text[0] = '\0';
    return find_process(e, id, &is) ? evidence_place(e, &is, text) : text;
}

bool evidence_began_as(const struct evidence *e, const struct snapshot_process *process, const char *function)
{
    struct wire_name names[OTP_OWNER_NAMES];
    char buf[NAME_BYTES];

    return snapshot_names(e->snapshot, process, names) && names[OTP_OWNER_CALL].form == WIRE_MFA &&
           !strcmp(names_text(e->names, e->vm, &names[OTP_OWNER_CALL], buf, sizeof buf), function);
}

bool evidence_is_supervisor(const struct evidence *e, const struct evidence_parent *parent)
{
    static const char module[] = "supervisor:";
    struct wire_name names[OTP_OWNER_NAMES];
    char buf[NAME_BYTES];

    return parent->lives && snapshot_names(e->snapshot, &parent->is, names) && names[OTP_OWNER_CALL].form == WIRE_MFA &&
           !strncmp(names_text(e->names, e->vm, &names[OTP_OWNER_CALL], buf, sizeof buf), module, strlen(module));
}
