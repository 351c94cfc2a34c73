/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that Erlang programs print, compared. */
#ifndef TESTS_ERL_SUPPORT_LINES_H
#define TESTS_ERL_SUPPORT_LINES_H

#include <stdbool.h>

/* maps_in_any_order: pairs of `#{...}` may stand in another order, as they do since OTP 26. */
bool is_same_line(const char *expected, const char *printed, bool maps_in_any_order);

#endif
