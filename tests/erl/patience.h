/* SPDX-License-Identifier: Apache-2.0 */
/* How long a program may take before it is given up: as the test cases' own limits, more for slow builds. */
#ifndef TESTS_ERL_PATIENCE_H
#define TESTS_ERL_PATIENCE_H

#include <stdlib.h>

/* Units: seconds. */
static inline int patience(int seconds)
{
	const char *times = getenv("CK_TIMEOUT_MULTIPLIER");

	return times != NULL && atoi(times) > 0 ? seconds * atoi(times) : seconds;
}

#endif
