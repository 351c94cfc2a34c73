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
	enum { ROW_BIF, ROW_OWN, ROW_DIRECT, ROW_INSTRUCTION } kind; /* see bifs.def */
};

static const struct bif_row rows[] = {
#define BIF(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_BIF },
#define OWN(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_OWN },
#define DIRECT(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_DIRECT },
#define INSTRUCTION(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_INSTRUCTION },
#include "bif/bifs.def"
};

/* Modules whose natives are NIFs in OTP. */
static bool is_nif_module(Term module)
{
	return module == am_prim_file || module == am_prim_buffer || module == am_zlib || module == am_erl_tracer ||
	       module == am_dyntrace;
}

Term bif_list(struct heap *h)
{
	Term list = NIL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((rows[i].kind == ROW_BIF || rows[i].kind == ROW_DIRECT) && !is_nif_module(rows[i].module)) {
			Term mfa = heap_tuple(h, rows[i].module, atom_from_text(rows[i].function), SMALL(rows[i].arity));

			list = heap_cons(h, mfa, list);
		}
	return list;
}

Term bif_put_pairs(struct heap *h, size_t n, const Term (*pairs)[2])
{
	enum { PAIR_WORDS = 5 };
	Term *at = heap_alloc(h, PAIR_WORDS * n), *end = at + PAIR_WORDS * n;
	Term list = term_from_cons(at);

	for (; at < end; at += PAIR_WORDS, pairs++) {
		at[0] = term_from_boxed(at + 2);
		at[1] = term_from_cons(at + PAIR_WORDS);
		at[2] = HEADER(2, SUB_TUPLE);
		at[3] = (*pairs)[0];
		at[4] = (*pairs)[1];
	}
	end[1 - PAIR_WORDS] = NIL;
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
		if (row->kind == ROW_DIRECT || row->kind == ROW_INSTRUCTION)
			export_add_instruction(e);
	}
}
