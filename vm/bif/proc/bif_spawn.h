/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions that start processes take. */
#ifndef VM_BIF_PROC_BIF_SPAWN_H
#define VM_BIF_PROC_BIF_SPAWN_H

#include "bif/bif.h"

/* Are these a module, a function and a proper list of arguments? */
bool bif_is_call(const Term *args);

#endif
