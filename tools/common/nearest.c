/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned nearest_distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    unsigned rows[3][NEAREST_BYTES + 1]; /* of the characters of a so far: this one, the last, the one before */

    if (m > NEAREST_BYTES || n > NEAREST_BYTES)
        return NEAREST_BYTES;
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        unsigned *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

bool nearest_is(const char *word, const char *known, unsigned *best)
{
    unsigned distance = nearest_distance(word, known);

    if (distance >= *best || 3 * distance > strlen(word) + 1)
        return false;
    *best = distance;
    return true;
}
