/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of releases.def. */
#include "base/release.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RELEASE_BEFORE_ERTS = 12 };

static const struct release rows[] = {
#define RELEASE(number, erts, nif, driver, kernel, stdlib) { number, #number, erts, nif, driver, kernel, stdlib },
#include "releases.def"
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

const struct release *release_current = rows;

const struct release *release_find(int number)
{
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (rows[i].number == number)
			return &rows[i];
	return NULL;
}

void release_use(const struct release *r)
{
	release_current = r;
}

void release_name_known(char *to, size_t room)
{
	size_t left = ROW_COUNT, used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < ROW_COUNT && used < room; i++) {
		left--;
		used += (size_t)snprintf(to + used, room - used, "%d%s", rows[i].number,
					 left == 0 ? "" : left == 1 ? " and " : ", ");
	}
}

int release_of_erts(const char *version)
{
	return atoi(version) % 1000 + RELEASE_BEFORE_ERTS;
}
