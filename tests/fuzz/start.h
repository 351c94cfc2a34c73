/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets begin with. */
#ifndef FUZZ_START_H
#define FUZZ_START_H

#include "code/export.h"
#include "code/fun.h"
#include "heap/literal.h"
#include "heap/resource_name.h"
#include "term/atom.h"
#include "term/node.h"

/* Once, from LLVMFuzzerInitialize: the tables that terms and code refer to. They are not freed. */
static inline void fuzz_start(void)
{
	atom_init();
	node_init();
	literal_init();
	resource_name_init();
	export_init();
	fun_init();
}

#endif
