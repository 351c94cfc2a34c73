/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph (Brendan Gregg, "The Flame Graph", CACM 59:6): a box a frame, as wide as its share, on what called it.
 * Invariant: text of targets stands in text nodes and attribute values only, with the marks of XML escaped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "profile.h"

enum { WIDTH = 1200, ROW = 17, TOP = 44, BOTTOM = 24, CHAR_WIDTH = 7, MAX_DEPTH = 1024 };
static const double least_width = 0.1;

/* Hue, saturation and lightness by kind; the hue varies by `spread` with the name. */
static const struct {
    int hue, spread, saturation, lightness;
} colours[PROFILE_NKINDS] = {
    [PROFILE_GROUP] = {0, 1, 0, 84},
    [PROFILE_ERLANG] = {4, 44, 88, 66},
    [PROFILE_NATIVE] = {92, 36, 50, 66},
    [PROFILE_KERNEL] = {200, 24, 66, 72},
};

/*
 * Every frame is a group with the name in `data-n`, left edge and width in parts of the whole in
 * `data-x` and `data-w`. Click: the frame fills the width. Escape: all again. "/": search.
 */
static const char script[] =
    "<script><![CDATA[\n"
    "(function () {\n"
    "  var frames = [].slice.call(document.querySelectorAll('g.f'));\n"
    "  var status = document.getElementById('status'), width = 1200;\n"
    "  function num(g, key) { return +g.getAttribute('data-' + key); }\n"
    "  function show(from, size) {\n"
    "    frames.forEach(function (g) {\n"
    "      var x = (num(g, 'x') - from) / size * width, w = num(g, 'w') / size * width;\n"
    "      var left = Math.max(x, 0), right = Math.min(x + w, width);\n"
    "      var rect = g.querySelector('rect'), text = g.querySelector('text');\n"
    "      g.style.display = right - left < 0.05 ? 'none' : '';\n"
    "      rect.setAttribute('x', left);\n"
    "      rect.setAttribute('width', Math.max(right - left - 0.3, 0.1));\n"
    "      text.setAttribute('x', left + 3);\n"
    "      var room = Math.floor((right - left - 6) / 7), name = g.getAttribute('data-n');\n"
    "      text.textContent = room < 3 ? '' : name.length <= room ? name : name.slice(0, room - 2) + '..';\n"
    "    });\n"
    "  }\n"
    "  function search(words) {\n"
    "    var found = 0, until = -1;\n"
    "    var hits = frames.filter(function (g) {\n"
    "      var hit = words && g.getAttribute('data-n').indexOf(words) >= 0;\n"
    "      g.setAttribute('class', hit ? 'f hit' : 'f');\n"
    "      return hit;\n"
    "    }).sort(function (a, b) { return num(a, 'x') - num(b, 'x') || num(b, 'w') - num(a, 'w'); });\n"
    "    hits.forEach(function (g) {\n"
    "      if (num(g, 'x') < until - 1e-9) return;\n"
    "      found += num(g, 'w');\n"
    "      until = num(g, 'x') + num(g, 'w');\n"
    "    });\n"
    "    status.textContent = words ? (100 * found).toFixed(1) + '% hold \"' + words + '\"' : '';\n"
    "  }\n"
    "  frames.forEach(function (g) {\n"
    "    g.addEventListener('click', function () { show(num(g, 'x'), num(g, 'w')); });\n"
    "  });\n"
    "  document.getElementById('search').addEventListener('click', function () { search(prompt('Search for') || ''); "
    "});\n"
    "  document.addEventListener('keydown', function (e) {\n"
    "    if (e.key === 'Escape') { show(0, 1); search(''); }\n"
    "    if (e.key === '/') { e.preventDefault(); search(prompt('Search for') || ''); }\n"
    "  });\n"
    "})();\n"
    "]]></script>\n";

static int hue_of(const struct profile_frame *frame)
{
    unsigned hash = 0;

    for (const char *at = frame->name; *at && *at != ':'; at++) /* a module's functions look alike */
        hash = hash * 31 + (unsigned char)*at;
    return colours[frame->kind].hue + (int)(hash % (unsigned)colours[frame->kind].spread);
}

/* The label as the script cuts it. */
static void cut_label(char *label, double width)
{
    size_t room = width > 6 ? (size_t)((width - 6) / CHAR_WIDTH) : 0, columns = 0;

    for (char *at = label; *at; at++) {
        if ((*at & 0xc0) != 0x80 && columns++ == room) {
            *at = '\0';
            break;
        }
    }
    if (room < 3)
        *label = '\0';
}

struct canvas {
    FILE *out;
    const struct profile_tree *tree;
    const char *unit;
    bool lines;
    int height;
};

static void print_value(const struct canvas *c, uint64_t value)
{
    if (!strcmp(c->unit, "nanoseconds"))
        fprintf(c->out, "%.3f s", (double)value / 1e9);
    else
        fprintf(c->out, "%llu %s", (unsigned long long)value, c->unit);
}

static void print_frame(const struct canvas *c, const struct profile_node *node, double start)
{
    double all = (double)c->tree->nodes[0].total, x = start / all, w = (double)node->total / all;
    int y = c->height - BOTTOM - ROW * ((int)node->depth + 1);
    char label[1024];

    profile_label(&node->frame, c->lines, label, sizeof label);
    fputs("<g class=\"f\" data-n=\"", c->out);
    escape_xml(c->out, label);
    fprintf(c->out, "\" data-x=\"%.7f\" data-w=\"%.7f\"><title>", x, w);
    escape_xml(c->out, label);
    fputs(" \xe2\x80\x93 ", c->out);
    print_value(c, node->total);
    fprintf(c->out,
            ", %.2f%%</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"hsl(%d,%d%%,%d%%)\"/>",
            100 * w, x * WIDTH, y, w * WIDTH > 0.4 ? w * WIDTH - 0.3 : 0.1, ROW - 1, hue_of(&node->frame),
            colours[node->frame.kind].saturation, colours[node->frame.kind].lightness);
    cut_label(label, w * WIDTH);
    fprintf(c->out, "<text x=\"%.2f\" y=\"%d\">", x * WIDTH + 3, y + 12);
    escape_xml(c->out, label);
    fputs("</text></g>\n", c->out);
}

static bool is_shown(const struct profile_tree *tree, const struct profile_node *node)
{
    return node->depth < MAX_DEPTH && (double)node->total / (double)tree->nodes[0].total * WIDTH >= least_width;
}

/* Depth first; siblings stand one beside the other from their parent's left edge. */
static void print_frames(const struct canvas *c, uint32_t *path, double *next)
{
    uint32_t number = 0;
    int depth = -1;

    for (;;) {
        const struct profile_node *node = &c->tree->nodes[number];
        double start = depth < 0 ? 0 : next[depth];

        if (is_shown(c->tree, node)) {
            print_frame(c, node, start);
            path[++depth] = number;
            next[depth] = start;
            number = node->child;
        } else {
            if (depth >= 0)
                next[depth] += (double)node->total;
            number = node->sibling;
        }
        while (!number && depth > 0) {
            const struct profile_node *done = &c->tree->nodes[path[depth--]];

            next[depth] += (double)done->total;
            number = done->sibling;
        }
        if (!number)
            return;
    }
}

static void print_head(const struct canvas *c, const char *title)
{
    fprintf(
        c->out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>text { font: 11px monospace; fill: #111; pointer-events: none } .f { cursor: pointer } "
        ".f:hover rect { stroke: #111; stroke-width: 0.8 } .hit rect { fill: #c4f } #search { cursor: pointer; "
        "pointer-events: auto }</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"3\" y=\"18\" style=\"font-size: 15px\">",
        WIDTH, c->height, WIDTH, c->height);
    escape_xml(c->out, title);
    fprintf(c->out,
            "</text>\n<text id=\"search\" x=\"%d\" y=\"18\">Search (/)</text>\n<text id=\"status\" x=\"3\" "
            "y=\"36\"></text>\n",
            WIDTH - 90);
}

int profile_write_svg(const struct profile *profile, const struct profile_about *about, FILE *out)
{
    struct profile_tree tree;
    struct canvas canvas = {.out = out, .tree = &tree, .unit = profile_units(profile)->unit, .lines = about->lines};
    int err = profile_tree_new(profile, about->lines, &tree);
    uint32_t *path = err ? NULL : calloc(MAX_DEPTH + 1, sizeof *path), depth = 0;
    double *next = err ? NULL : calloc(MAX_DEPTH + 1, sizeof *next);

    if (!path || !next) {
        err = -ENOMEM;
    } else {
        for (size_t i = 0; i < tree.n; i++)
            if (tree.nodes[i].depth > depth && tree.nodes[i].depth < MAX_DEPTH)
                depth = tree.nodes[i].depth;
        canvas.height = TOP + BOTTOM + ROW * ((int)depth + 1);
        print_head(&canvas, about->title);
        if (tree.nodes[0].total)
            print_frames(&canvas, path, next);
        fprintf(out, "%s</svg>\n", script);
    }
    free(path);
    free(next);
    profile_tree_free(&tree);
    return err ? err : ferror(out) ? -EIO : 0;
}
