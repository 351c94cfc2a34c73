/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the generic operations, from genops.def. GENOP_<name>; those that no compiler of OTP 25 to 29 emits, and
 * those of native records, are not named. */
#ifndef VM_CODE_GENOPS_H
#define VM_CODE_GENOPS_H

#include <stdint.h>

enum genop_number {
#define GENOP(number, name, signature) GENOP_##name = number,
#include "code/genops.def"
	GENOP_LIMIT = 192
};

/* NULL for a number that is no operation. */
const char *genop_name(unsigned op);

#endif
