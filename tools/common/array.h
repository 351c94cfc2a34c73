/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow as they are filled. */
#ifndef TOOLS_ARRAY_H
#define TOOLS_ARRAY_H

#include <stddef.h>

/*
 * Makes room for one more behind the `n` elements of `size` bytes in *all (NULL at first), which has room for *room.
 * The caller frees *all. Fails: -ENOMEM, nothing changes.
 */
int array_room(void **all, size_t n, size_t *room, size_t size);

#endif
