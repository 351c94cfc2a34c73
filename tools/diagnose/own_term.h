/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of own_language.h, from inside: what the parser makes and the evaluation reads. */
#ifndef TOOLS_OWN_TERM_H
#define TOOLS_OWN_TERM_H

#include "own_language.h"

enum own_operation {
    OWN_LITERAL, OWN_NAME, OWN_NEGATE, OWN_NOT,
    OWN_OR, OWN_AND,
    OWN_LESS, OWN_MORE_THAN, OWN_AT_MOST, OWN_AT_LEAST, OWN_IS, OWN_IS_NOT,
    OWN_PLUS, OWN_MINUS, OWN_TIMES, OWN_BY,
};

struct own_term {
    enum own_operation operation;
    enum own_type type;
    enum own_unit unit;
    double number;   /* of a literal */
    int name;        /* of a name */
    char *text;      /* of a literal text, or what a name is called */
    struct own_term *left, *right;
    const char *at;  /* in the file, while it is parsed */
    struct own_term *next; /* of all */
};

#endif
