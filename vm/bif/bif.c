/* SPDX-License-Identifier: Apache-2.0 */
/* The table of native functions enters the export table. */
#include "bif/bif.h"

#include "bif/bif_info.h"
#include "code/export.h"
#include "data/regex_cache.h"

struct bif_row {
	Term module;
	const char *function;
	unsigned arity;
	bif_fn call;
	const char *name;
	enum { ROW_BIF, ROW_OWN, ROW_INSTRUCTION } kind; /* see bifs.def */
};

static const struct bif_row rows[] = {
#define BIF(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_BIF },
#define OWN(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_OWN },
#define INSTRUCTION(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_INSTRUCTION },
#include "bif/bifs.def"
};

/* Modules whose natives are NIFs in OTP. */
static bool is_nif_module(Term module)
{
	return module == am_prim_file || module == am_prim_buffer || module == am_zlib || module == am_erl_tracer;
}

Term bif_list(struct heap *h)
{
	Term list = NIL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].kind == ROW_BIF && !is_nif_module(rows[i].module)) {
			Term mfa = heap_tuple(h, rows[i].module, atom_from_text(rows[i].function), SMALL(rows[i].arity));

			list = heap_cons(h, mfa, list);
		}
	return list;
}

void bif_init(void)
{
	bif_proc_init();
	regex_cache_init();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct bif_row *row = &rows[i];
		struct export *e = export_get(row->module, atom_from_text(row->function), row->arity);

		export_set_bif(e, row->call, row->name);
		e->is_nif = is_nif_module(row->module);
		e->is_own = row->kind == ROW_OWN;
	}
}
