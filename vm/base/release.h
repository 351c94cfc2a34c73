/* SPDX-License-Identifier: Apache-2.0 */
/* The release of the Erlang/OTP library that this VM runs: a row of releases.def. Invariant: it does not change once
 * anything runs. */
#ifndef VM_BASE_RELEASE_H
#define VM_BASE_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

/* The versions of erl_nif.h and erl_driver.h are MAJOR.minor: the minor one is the release's. */
enum { NIF_MAJOR = 2, DRIVER_MAJOR = 3 };

struct release {
	int number;
	const char *text, *erts;    /* "25", "13.1.5" */
	int nif_minor, driver_minor;
	int kernel_major, stdlib_major;
};

/* The first row until release_use. Read it through what stands below. */
extern const struct release *release_current;

/* Is it this one or a later one? */
static inline bool release_is_from(int number)
{
	return release_current->number >= number;
}

/* bool release_zeros_differ(void): a function for each row SEMANTIC. */
#define SEMANTIC(first, name) static inline bool release_##name(void) { return release_is_from(first); }
#include "releases.def"

/* NULL: erlvm does not know it. */
const struct release *release_find(int number);
/* Before anything else looks at it. */
void release_use(const struct release *r);
/* "25, 27 and 29". `room` bytes; longer text is cut. */
void release_name_known(char *to, size_t room);
/* The release whose ERTS has the version that the text begins with ("15.2.7"), which is a number. */
int release_of_erts(const char *version);

#endif
