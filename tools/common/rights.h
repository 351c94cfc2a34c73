/* SPDX-License-Identifier: Apache-2.0 */
/* The rights that we have, for whoever is not root. */
#ifndef TOOLS_RIGHTS_H
#define TOOLS_RIGHTS_H

#include <stdbool.h>

/* Whether a capability, CAP_<name> of linux/capability.h, is in force. */
bool rights_have(int capability);
/* Why a process, or a file of its, could not be looked at: the right that is missing where it is one, else what the
 * error -errno means. */
const char *rights_explain(int err);

#endif
