/* SPDX-License-Identifier: Apache-2.0 */
#include "array.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST = 64 };

int array_room(void **all, size_t n, size_t *room, size_t size)
{
    size_t more = *room ? 2 * *room : FIRST;
    void *bigger;

    if (n < *room)
        return 0;
    bigger = reallocarray(*all, more, size);
    if (!bigger)
        return -ENOMEM;
    *all = bigger;
    *room = more;
    return 0;
}
