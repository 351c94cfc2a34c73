/* SPDX-License-Identifier: Apache-2.0 */
/* The table of native functions enters the export table. */
#include "bif/bif.h"

#include "bif/bif_info.h"
#include "code/export.h"

struct bif_row {
	Term module;
	const char *function;
	unsigned arity;
	bif_fn call;
	const char *name;
};

static const struct bif_row rows[] = {
#define BIF(module, function, arity, name) { am_##module, function, arity, name, #name },
#include "bif/bifs.def"
};

void bif_init(void)
{
	bif_proc_init();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct bif_row *row = &rows[i];

		export_set_bif(export_get(row->module, atom_from_text(row->function), row->arity), row->call, row->name);
	}
}
