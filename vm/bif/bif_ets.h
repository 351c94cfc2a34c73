/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the ets functions. */
#ifndef VM_BIF_BIF_ETS_H
#define VM_BIF_BIF_ETS_H

#include "ets/table.h"
#include "heap/copy.h"

/* Objects freed, seen, in one slice before others may run. */
enum { ETS_SLICE_OBJECTS = 2000, ETS_OBJECTS_A_REDUCTION = 10 };

#endif
