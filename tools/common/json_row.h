/* SPDX-License-Identifier: Apache-2.0 */
/* A line of JSON as our own sink writes them: an object whose members are texts and numbers, nothing deeper. */
#ifndef TOOLS_JSON_ROW_H
#define TOOLS_JSON_ROW_H

#include <stddef.h>

enum { JSON_ROW_MEMBERS = 64 };

struct json_row {
    struct json_member {
        char *name, *value; /* UTF-8; a number as it is written */
    } members[JSON_ROW_MEMBERS];
    size_t n;
};

/*
 * Reads `size` bytes; blanks around it are allowed. Owns: json_row_free frees *out, after a failure too. Fails:
 * -EINVAL, -ENOMEM; *at: the place of the first byte that does not belong there.
 */
int json_row_parse(const char *text, size_t size, struct json_row *out, size_t *at);
/* The value of the first member of that name; "": there is none. */
const char *json_row_get(const struct json_row *row, const char *name);
void json_row_free(struct json_row *row);

#endif
