/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what is not known never becomes a number: a comparison with it is not known either. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "own_term.h"
#include "sink/sink.h"

static const struct own_value unknown = {false, 0, ""};

static struct own_value number(double value)
{
    return isfinite(value) ? (struct own_value){true, value, ""} : unknown;
}

/* A * in the pattern stands for any text. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *again = text;

    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            again = text;
        } else if (*pattern && *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return false;
        }
    }
    return !pattern[strspn(pattern, "*")];
}

/* Of two that are names the values may share a place: the first is copied. */
static struct own_value compare_texts(const struct own_term *term, struct own_thing *thing)
{
    char left[512];
    struct own_value value = own_evaluate(term->left, thing);
    bool same;

    if (!value.known)
        return unknown;
    snprintf(left, sizeof left, "%s", value.text);
    value = own_evaluate(term->right, thing);
    if (!value.known)
        return unknown;
    same = term->left->operation == OWN_LITERAL ? matches(left, value.text) : matches(value.text, left);
    return number(same == (term->operation == OWN_IS));
}

/* One that is known may decide alone. */
static struct own_value decide(const struct own_term *term, struct own_thing *thing)
{
    double decides = term->operation == OWN_OR;
    struct own_value left = own_evaluate(term->left, thing), right;

    if (left.known && left.number == decides)
        return left;
    right = own_evaluate(term->right, thing);
    return right.known && right.number == decides ? right : left.known && right.known ? right : unknown;
}

static double calculate(enum own_operation operation, double left, double right)
{
    switch (operation) {
    case OWN_LESS: return left < right;
    case OWN_MORE_THAN: return left > right;
    case OWN_AT_MOST: return left <= right;
    case OWN_AT_LEAST: return left >= right;
    case OWN_IS: return left == right;
    case OWN_IS_NOT: return left != right;
    case OWN_PLUS: return left + right;
    case OWN_MINUS: return left - right;
    case OWN_TIMES: return left * right;
    default: return right ? left / right : NAN;
    }
}

static struct own_value join(const struct own_term *term, struct own_thing *thing)
{
    struct own_value left = own_evaluate(term->left, thing), right = own_evaluate(term->right, thing);

    return left.known && right.known ? number(calculate(term->operation, left.number, right.number)) : unknown;
}

struct own_value own_evaluate(const struct own_term *term, struct own_thing *thing)
{
    struct own_value value;

    switch (term->operation) {
    case OWN_LITERAL: return (struct own_value){true, term->number, term->text};
    case OWN_NAME:
        value = thing->value(thing->ctx, term->name);
        if (!value.known && !thing->lacks)
            thing->lacks = term->text;
        return value;
    case OWN_NEGATE:
    case OWN_NOT:
        value = own_evaluate(term->left, thing);
        return value.known ? number(term->operation == OWN_NOT ? !value.number : -value.number) : unknown;
    case OWN_OR:
    case OWN_AND: return decide(term, thing);
    default: return term->left->type == OWN_TEXT ? compare_texts(term, thing) : join(term, thing);
    }
}

/* ---- sentences */

static void format_number(char *out, size_t size, double value, enum own_unit unit)
{
    const char *sign = value < 0 ? "-" : "";
    double much = fabs(value);
    char text[32];

    if (unit == OWN_BYTES && much < 1e19)
        sink_format_size(text, sizeof text, (uint64_t)much);
    else if (unit == OWN_SECONDS && much < 1e9)
        sink_format_ns(text, sizeof text, (uint64_t)(much * 1e9));
    else if (unit == OWN_SHARE)
        snprintf(text, sizeof text, "%.3g%%", 100 * much);
    else
        snprintf(text, sizeof text, much >= 100 || much == floor(much) ? "%.0f" : "%.3g", much < 1e20 ? much : 1e20);
    snprintf(out, size, "%s%s", sign, text);
}

void own_say(const struct own_rule *rule, struct own_thing *thing, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < rule->nsays && used < size; i++) {
        const struct own_piece *piece = &rule->says[i];
        struct own_value value = piece->is_name ? thing->value(thing->ctx, piece->name) : unknown;
        char text[40] = "?";

        if (value.known && piece->is.type == OWN_NUMBER)
            format_number(text, sizeof text, value.number, piece->is.unit);
        used += (size_t)snprintf(out + used, size - used, "%s",
                                 !piece->is_name                                ? piece->text
                                 : value.known && piece->is.type == OWN_TEXT ? value.text
                                                                               : text);
    }
}
