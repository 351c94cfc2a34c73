/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a stack is one line, its frames are apart by semicolons that no name holds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "profile.h"

static void print_name(FILE *out, const struct profile_frame *frame, bool lines)
{
    char label[1024], clean[4096];

    profile_label(frame, lines, label, sizeof label);
    escape_text(clean, sizeof clean, label, sizeof label);
    for (const char *at = clean; *at; at++) {
        if (*at == ';')
            fputs("\\x3b", out);
        else
            fputc(*at, out);
    }
}

/* `path`: the numbers of the nodes from below the root to `number`, as many as its depth. */
static void print_stack(FILE *out, const struct profile_tree *tree, const uint32_t *path, uint32_t number, bool lines)
{
    const struct profile_node *node = &tree->nodes[number];

    for (uint32_t i = 0; i < node->depth; i++) {
        print_name(out, &tree->nodes[path[i]].frame, lines);
        fputc(i + 1 < node->depth ? ';' : ' ', out);
    }
    fprintf(out, "%llu\n", (unsigned long long)node->self);
}

int profile_write_folded(const struct profile *profile, bool lines, FILE *out)
{
    struct profile_tree tree;
    int err = profile_tree_new(profile, lines, &tree);
    uint32_t *path = err ? NULL : calloc(tree.n, sizeof *path);
    uint32_t number = err ? 0 : tree.nodes[0].child, depth = 0;

    if (!path)
        err = -ENOMEM;
    while (!err && number) {
        path[depth++] = number;
        if (tree.nodes[number].self)
            print_stack(out, &tree, path, number, lines);
        if (tree.nodes[number].child) {
            number = tree.nodes[number].child;
            continue;
        }
        while (depth && !tree.nodes[path[depth - 1]].sibling)
            depth--;
        number = depth ? tree.nodes[path[--depth]].sibling : 0;
    }
    free(path);
    profile_tree_free(&tree);
    return err;
}
