/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a row of JSON. Invariants: it is refused at a place that is in it, or its members are texts. For libFuzzer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_row.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n ? n : 1); /* with nothing behind it */
    struct json_row row;
    size_t at, all = 0;
    int err;

    if (!text)
        return 0;
    memcpy(text, bytes, n);
    err = json_row_parse(text, n, &row, &at);
    if (at > n || row.n > JSON_ROW_MEMBERS)
        abort();
    for (size_t i = 0; !err && i < row.n; i++)
        all += strlen(row.members[i].name) + strlen(row.members[i].value);
    if (!err && all > n)
        abort();
    json_row_free(&row);
    free(text);
    return 0;
}
