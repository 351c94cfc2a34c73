/* SPDX-License-Identifier: Apache-2.0 */
#include "report_diagnose.h"

#include <errno.h>
#include <string.h>

#include "common/fail.h"
#include "diagnose_print.h"

enum { MOST_ROWS = 256 /* of a table, as of erlsnoop diagnose */ };

void report_diagnose_views(bool on[VIEW_COUNT])
{
    for (int rule = 0; rule < FINDING_RULES; rule++)
        for (struct counted_need need = {.next = finding_texts[rule].needs}; counted_next_need(&need);)
            on[need.view] = true;
}

static int take(const struct report_diagnosed *what, const struct result_source *source, struct counted *out)
{
    struct result_reader reader = {.wants = RESULT_ALL, .most = MOST_ROWS};
    int err;

    *out = (struct counted){.seconds = source->seconds > 0 ? source->seconds : 1e-9, .share = 1};
    report_diagnose_views(out->asked);
    memcpy(out->told, what->told, sizeof out->told);
    err = result_gather(source, out->asked, (struct result_reader *const[]){&reader}, 1);
    err = err ? err : counted_take(out, source, &reader);
    result_forget(&reader);
    return err;
}

/* Without events of any view nobody looked. */
static bool is_answered(const struct report_diagnosed *what, const struct result_source *source)
{
    bool told = false;

    for (int v = 0; v < VIEW_COUNT; v++)
        told |= what->told[v];
    return told && source->seconds > 0;
}

int report_diagnose(const struct report_diagnosed *what, const struct result_source *source)
{
    struct counted counted;
    struct evidence evidence = {.counted = &counted, .own = what->asked->own};
    struct findings found = {0};
    const struct diagnosis diagnosis = {.pid = what->vm,
                                   .name = what->name,
                                   .no_ports = "",
                                   .file = what->file,
                                   .evidence = &evidence,
                                   .counted = &counted,
                                   .found = &found};
    int err = take(what, source, &counted);

    err = err ? err : findings_count(&evidence, &found);
    if (!err)
        diagnosis_print(&diagnosis, source->sink, found.n);
    err = err ? fail(err, "cannot print what was found: %s", strerror(-err))
              : diagnose_asked_status(what->asked, &found, is_answered(what, source));
    findings_free(&found);
    counted_free(&counted);
    return err;
}
