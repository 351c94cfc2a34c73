/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for whom, as a picture (SVG): a box a row of the tree, an arrow to whom it waits for. */
#ifndef TOOLS_BLAME_PICTURE_H
#define TOOLS_BLAME_PICTURE_H

#include <stdio.h>

#include "blame_tree.h"

/* The first `top` roots of a tree that was named. title: untrusted. Fails: -ENOMEM. */
int blame_picture_write(const struct blame_tree *tree, size_t top, const char *title, FILE *out);

#endif
