/* SPDX-License-Identifier: Apache-2.0 */
/* What stands below the totals of a view and no program counted: the memory of VMs, or the kernel, says it. */
#ifndef TOOLS_BESIDE_H
#define TOOLS_BESIDE_H

#include "result.h"

void beside_print(const struct result_source *source, enum view_id view);

#endif
