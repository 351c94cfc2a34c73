/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: text of the VM stands in text nodes only, by escape_xml. The picture has no script, and loads nothing; it
 * has MOST_ROWS boxes at most, and says what it leaves out.
 */
#include "blame_picture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/escape.h"

enum {
    MOST_ROWS = 500,
    WIDTH = 1000,
    LEFT = 60, /* of it the arrows of circles take what is left of the boxes */
    TOP = 48,
    ROW = 48,
    BOX = 38,
    STEP = 32, /* a box stands so far to the right of whom it waits for */
    CHAR = 7,
    TITLE_BYTES = 1024,
};

struct box {
    unsigned depth;
    uint64_t waiters, circle;
    bool is_rest;
    char *who, *does;
};

struct picture {
    struct box *boxes;
    size_t n, room, left_out;
    int err;
    FILE *out;
};

static void add_box(void *ctx, const struct blame_row *row)
{
    struct picture *p = ctx;
    struct box *box;

    if (p->err || p->n >= MOST_ROWS) {
        p->left_out += !p->err;
        return;
    }
    p->err = array_room((void **)&p->boxes, p->n, &p->room, sizeof *p->boxes);
    if (p->err)
        return;
    box = &p->boxes[p->n++];
    *box = (struct box){row->depth, row->waiters, row->circle, row->is_rest, strdup(row->who), strdup(row->does)};
    if (!box->who || !box->does)
        p->err = -ENOMEM;
}

/* ---- places */

static int left_of(const struct box *box)
{
    return LEFT + STEP * (int)box->depth;
}

static int top_of(const struct picture *p, const struct box *box)
{
    return TOP + ROW * (int)(box - p->boxes);
}

/* Whom it waits for, in the picture; NULL: nobody. */
static const struct box *above(const struct picture *p, const struct box *box)
{
    const struct box *at = box;

    while (at > p->boxes && at->depth >= box->depth)
        at--;
    return at->depth < box->depth ? at : NULL;
}

/* The next of its circle, and after the last the first. */
static const struct box *next_of_circle(const struct picture *p, const struct box *box)
{
    const struct box *end = p->boxes + p->n, *at;

    for (at = box + 1; at < end; at++)
        if (at->circle == box->circle)
            return at;
    for (at = p->boxes; at->circle != box->circle; at++)
        ;
    return at;
}

/* ---- drawing */

/* As much of the text as `room` pixels hold; all of it stands in the box's title. */
static void print_cut(FILE *out, const char *text, int room)
{
    char clean[TITLE_BYTES], *cut = clean;
    size_t most = room > 3 * CHAR ? (size_t)(room / CHAR) : 3, columns = 0;

    escape_text(clean, sizeof clean, text, sizeof clean);
    for (const char *at = clean; *at; at++) {
        columns += (*at & 0xc0) != 0x80;
        if (columns <= most - 2)
            cut = clean + (at - clean) + 1;
    }
    if (columns > most)
        *cut = '\0';
    escape_xml(out, clean);
    if (columns > most)
        fputs("..", out);
}

static void draw_arrow(const struct picture *p, const struct box *box)
{
    const struct box *whom = above(p, box);
    int x = left_of(box), y = top_of(p, box) + BOX / 2;

    if (box->circle) {
        int to = top_of(p, next_of_circle(p, box)) + BOX / 2, bend = to > y ? 20 : 50;

        fprintf(p->out, "<path class=\"dead\" d=\"M%d %d C%d %d %d %d %d %d\" marker-end=\"url(#to)\"/>\n", x, y + 6,
                x - bend, y + 6, x - bend, to - 6, x - 2, to - 6);
    } else if (whom) {
        fprintf(p->out, "<path d=\"M%d %d H%d V%d\" marker-end=\"url(#to)\"/>\n", x, y, left_of(whom) + STEP / 2,
                top_of(p, whom) + BOX + 2);
    }
}

static const char *class_of(const struct box *box)
{
    return box->is_rest ? "rest" : box->circle ? "dead" : box->depth ? "waits" : "root";
}

static void draw_box(const struct picture *p, const struct box *box)
{
    int x = left_of(box), y = top_of(p, box), width = WIDTH - 10 - x, room = width - 16;
    char waiters[48] = "";

    if (box->waiters)
        snprintf(waiters, sizeof waiters, "%" PRIu64 " wait%s for it", box->waiters, box->waiters == 1 ? "s" : "");
    fprintf(p->out, "<g class=\"%s\"><title>", class_of(box));
    escape_xml(p->out, box->who);
    fputs("\n", p->out);
    escape_xml(p->out, box->does);
    fprintf(p->out, "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>", x, y, width, BOX);
    fprintf(p->out, "<text class=\"who\" x=\"%d\" y=\"%d\">", x + 8, y + 15);
    print_cut(p->out, box->who, room - CHAR * (int)(strlen(waiters) + 1));
    fprintf(p->out, "</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", WIDTH - 18, y + 15, waiters);
    fprintf(p->out, "<text x=\"%d\" y=\"%d\">", x + 8, y + 31);
    print_cut(p->out, box->does, room);
    fputs("</text></g>\n", p->out);
}

static void draw_head(const struct picture *p, const char *title, int height)
{
    fprintf(p->out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
            "<style>text { font: 11.5px monospace; fill: #111 } .who { font-weight: bold } .title { font-size: 15px } "
            "rect { stroke: #555 } .page { fill: #fff; stroke: none } .root rect { fill: #ffe0a8 } "
            ".dead rect { fill: #ffc4c0 } .waits rect { fill: #e8f1fb } .rest rect { fill: #eee; stroke: #bbb } "
            "path { fill: none; stroke: #555 } path.dead { stroke: #b00020; stroke-width: 1.6 } "
            "marker path { fill: #555; stroke: none }</style>\n"
            "<defs><marker id=\"to\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\" "
            "markerUnits=\"userSpaceOnUse\"><path d=\"M0 0 L8 4 L0 8 Z\"/></marker></defs>\n"
            "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n<text class=\"title\" x=\"10\" y=\"26\">",
            WIDTH, height, WIDTH, height);
    print_cut(p->out, title, WIDTH - 200);
    fputs("</text>\n", p->out);
}

/* What is not in it. */
static void draw_foot(const struct picture *p, size_t roots, int y)
{
    if (!p->n)
        fprintf(p->out, "<text x=\"10\" y=\"%d\">nobody waits for another process, a port or a node</text>\n", y);
    if (roots)
        fprintf(p->out, "<text x=\"10\" y=\"%d\">left out: %zu more that others wait for; --top N draws them</text>\n",
                y, roots);
    if (p->left_out)
        fprintf(p->out, "<text x=\"10\" y=\"%d\">left out: %zu boxes, of more than %d</text>\n", y + 18, p->left_out,
                MOST_ROWS);
}

int blame_picture_write(const struct blame_tree *tree, size_t top, const char *title, FILE *out)
{
    struct picture p = {.out = out};
    int end;

    blame_tree_walk(tree, top, add_box, &p);
    end = TOP + ROW * (int)p.n;
    if (!p.err) {
        draw_head(&p, title, end + 50);
        for (size_t i = 0; i < p.n; i++)
            draw_arrow(&p, &p.boxes[i]);
        for (size_t i = 0; i < p.n; i++)
            draw_box(&p, &p.boxes[i]);
        draw_foot(&p, tree->nroots > top ? tree->nroots - top : 0, end + 18);
        fputs("</svg>\n", out);
    }
    for (size_t i = 0; i < p.n; i++) {
        free(p.boxes[i].who);
        free(p.boxes[i].does);
    }
    free(p.boxes);
    return p.err;
}
