/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that Erlang programs print, compared: since OTP 26 the pairs of a map are printed in an order that is not
 * documented, so that both lines' maps are brought into one order first. */
#include "support_lines.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = 64 };

struct pair {
	const char *at;
	size_t length;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = memcmp(x->at, y->at, x->length < y->length ? x->length : y->length);

	return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

/* Behind a string or a quoted atom that begins at `at`. */
static char *skip_quoted(char *at)
{
	char quote = *at++;

	while (*at != 0 && *at != quote)
		at += *at == '\\' && at[1] != 0 ? 2 : 1;
	return *at == 0 ? at : at + 1;
}

static char *order_pairs(char *at);

/* Behind what ends with , or a closing bracket; maps within are ordered. */
static char *order_within(char *at)
{
	int depth = 0;

	while (*at != 0 && (depth > 0 || strchr(",}])", *at) == NULL)) {
		if (*at == '"' || *at == '\'') {
			at = skip_quoted(at);
		} else if (at[0] == '#' && at[1] == '{') {
			at = order_pairs(at + 2);
		} else {
			depth += (strchr("{[(", *at) != NULL) - (strchr("}])", *at) != NULL);
			at++;
		}
	}
	return at;
}

/* The pairs of a map, which begin at `at`, in the order of their texts; behind the map's brace. What is cut or has too
 * many stays as it is. */
static char *order_pairs(char *at)
{
	struct pair pairs[PAIRS_MAX];
	char *begin = at, *end, *text;
	size_t used = 0;
	int n = 0;

	for (;;) {
		end = order_within(at);
		if (n == PAIRS_MAX || (*end != ',' && *end != '}'))
			return end;
		pairs[n++] = (struct pair){ at, (size_t)(end - at) };
		if (*end == '}')
			break;
		at = end + 1;
	}
	qsort(pairs, (size_t)n, sizeof(pairs[0]), compare_pairs);
	text = malloc((size_t)(end - begin) + 1);
	for (int i = 0; i < n; i++) {
		memcpy(text + used, pairs[i].at, pairs[i].length);
		used += pairs[i].length;
		text[used++] = ',';
	}
	memcpy(begin, text, (size_t)(end - begin));
	free(text);
	return end + 1;
}

static void order_maps(char *line)
{
	while (*(line = order_within(line)) != 0)
		line++;
}

bool is_same_line(const char *expected, const char *printed, bool maps_in_any_order)
{
	char *a, *b;
	bool same;

	if (!maps_in_any_order)
		return strcmp(expected, printed) == 0;
	a = strdup(expected);
	b = strdup(printed);
	order_maps(a);
	order_maps(b);
	same = strcmp(a, b) == 0;
	free(a);
	free(b);
	return same;
}
