/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: text of the VM stands in text nodes only, by escape_xml. The page has no script, and loads nothing; its
 * policy forbids both.
 */
#include "diagnose_page.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "common/escape.h"
#include "diagnose_unknown.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<style>\n"
    ":root { color-scheme: light dark }\n"
    "body { font: 16px/1.45 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }\n"
    "h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.1rem; margin: 0 } p { margin: .3rem 0 }\n"
    "section { border-left: .4rem solid; padding: .1rem 0 .1rem 1rem; margin: 1.6rem 0 }\n"
    ".high { border-color: #c62828 } .middle { border-color: #ef8f00 } .low { border-color: #8a8a8a }\n"
    ".score { float: right; font-variant-numeric: tabular-nums; opacity: .75 }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .4rem 0 }\n"
    "dt { opacity: .7 } dd { margin: 0 } dd, p, h1, h2 { overflow-wrap: anywhere }\n"
    "table { border-collapse: collapse } td { padding: .15rem 1.5rem .15rem 0; vertical-align: top }\n"
    "</style>\n";

static void print(FILE *out, const char *before, const char *text, const char *behind)
{
    fputs(before, out);
    escape_xml(out, text);
    fputs(behind, out);
}

static void print_head(const struct diagnosis *d, FILE *out)
{
    const struct evidence *e = d->evidence;
    time_t now = time(NULL);
    char host[256] = "", when[64] = "";

    gethostname(host, sizeof host - 1);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", gmtime(&now));
    fputs(head, out);
    print(out, "<title>erlsnoop diagnose: ", d->name, "</title>\n</head>\n<body>\n");
    print(out, "<h1>", d->name, "</h1>\n");
    print(out, "<p>", host, "");
    fprintf(out, ", process %u, %s. Looked at %" PRIu64 " processes %u times in %.1f s", d->pid, when,
            e->last.processes, e->looks, evidence_seconds(e));
    if (d->counted && d->counted->seconds > 0)
        fprintf(out, ", events watched for %.1f s", d->counted->seconds);
    fprintf(out, ": %s", d->found->n ? "" : "nothing found");
    if (d->found->n)
        fprintf(out, "%zu finding%s, the worst first", d->found->n, d->found->n == 1 ? "" : "s");
    fputs(".</p>\n", out);
}

static void print_finding(const struct diagnosis *d, const struct finding *f, FILE *out)
{
    const struct finding_text *t = f->text;
    char see[DIAGNOSIS_SEE_BYTES];

    fprintf(out, "<section class=\"%s\">\n<h2><span class=\"score\">%d of 100</span>%s%s",
            f->score > 75   ? "high"
            : f->score > 50 ? "middle"
                            : "low",
            f->score, t->kind, *f->who ? ": " : "");
    print(out, "", f->who, "</h2>\n");
    print(out, "<p>", f->what, "</p>\n<dl>\n");
    print(out, "<dt>why it matters</dt><dd>", t->why, "</dd>\n");
    print(out, "<dt>what to do</dt><dd>", t->what_to_do, "</dd>\n");
    if (f->from)
        print(out, "<dt>comes from</dt><dd>", f->from->kind, "</dd>\n");
    print(out, "<dt>more</dt><dd><code>", diagnosis_see(d, f, see), "</code></dd>\n</dl>\n</section>\n");
}

struct unknowns {
    FILE *out;
    bool any;
};

static void print_unknown(void *ctx, const char *what, const char *why)
{
    struct unknowns *u = ctx;

    if (!u->any)
        fputs("<h2>Not known</h2>\n<table>\n", u->out);
    u->any = true;
    print(u->out, "<tr><td>", what, "</td>");
    print(u->out, "<td>", why, "</td></tr>\n");
}

int diagnosis_write_page(const struct diagnosis *d, FILE *out)
{
    struct unknowns unknowns = {out, false};

    print_head(d, out);
    for (size_t i = 0; i < d->found->n; i++)
        print_finding(d, &d->found->all[i], out);
    diagnosis_unknown(d, false, print_unknown, &unknowns);
    fputs(unknowns.any ? "</table>\n" : "", out);
    fputs("</body>\n</html>\n", out);
    return ferror(out) ? -EIO : 0;
}
