/* SPDX-License-Identifier: Apache-2.0 */
#include "diagnose_asked.h"

#include <string.h>

#include "common/fail.h"
#include "diagnose_print.h"

enum { UNEXPECTED = 1 };

int diagnose_asked_load(struct diagnose_asked *a)
{
    int err = a->rules_path ? own_rules_load(a->rules_path, &a->own) : 0;

    if (err || !a->expects || !strcmp(a->expects, "none") || finding_find(a->expects) != FINDING_RULES ||
        own_rules_has(a->own, a->expects))
        return err;
    return fail(FAIL_USAGE, "--expect must be none or one of the findings of the manual, not '%s'", a->expects);
}

int diagnose_asked_status(const struct diagnose_asked *a, const struct findings *found, bool answered)
{
    if (!a->expects)
        return found->n ? DIAGNOSIS_FOUND : answered ? 0 : UNEXPECTED;
    if (!strcmp(a->expects, "none"))
        return found->n || !answered ? UNEXPECTED : 0;
    return found->n && !strcmp(found->all[0].text->rule, a->expects) ? 0 : UNEXPECTED;
}
