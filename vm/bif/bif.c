/* SPDX-License-Identifier: Apache-2.0 */
/* The table of native functions enters the export table. */
#include "bif/bif.h"

#include <string.h>

#include "base/release.h"
#include "bif/system/bif_info.h"
#include "code/export.h"
#include "data/regex_cache.h"

struct bif_row {
	Term module;
	const char *function;
	unsigned arity;
	bif_fn call;
	const char *name;
	enum row_kind { ROW_BIF, ROW_OWN, ROW_DIRECT, ROW_INSTRUCTION, ROW_NONE } kind; /* see bifs.def */
	int since;           /* release */
};

static const struct bif_row rows[] = {
#define BIF(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_BIF, 0 },
#define SINCE(release, module, function, arity, name) { am_##module, function, arity, name, #name, ROW_BIF, release },
#define OWN(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_OWN, 0 },
#define DIRECT(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_DIRECT, 0 },
#define INSTRUCTION(module, function, arity, name) { am_##module, function, arity, name, #name, ROW_INSTRUCTION, 0 },
#include "bif/bifs.def"
};

/* Rows that are another kind from a release on. */
static const struct change {
	int since;
	Term module;
	const char *function;
	unsigned arity;
	enum row_kind kind;
} changes[] = {
#define BIF(module, function, arity, name)
#define OWN(module, function, arity, name)
#define DIRECT(module, function, arity, name)
#define INSTRUCTION(module, function, arity, name)
#define SINCE(release, module, function, arity, name)
#define GONE(release, module, function, arity) { release, am_##module, function, arity, ROW_NONE },
#define IN_ERLANG(release, module, function, arity) { release, am_##module, function, arity, ROW_OWN },
#define BUILT_IN(release, module, function, arity) { release, am_##module, function, arity, ROW_BIF },
#include "bif/bifs.def"
};

/* What the row is in this release. */
static enum row_kind kind_of(const struct bif_row *row)
{
	if (!release_is_from(row->since))
		return ROW_NONE;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct change *c = &changes[i];

		if (release_is_from(c->since) && c->module == row->module && c->arity == row->arity &&
		    strcmp(c->function, row->function) == 0)
			return c->kind;
	}
	return row->kind;
}

/* Modules whose natives are NIFs in OTP. */
static bool is_nif_module(Term module)
{
	return module == am_prim_file || module == am_prim_buffer || module == am_zlib || module == am_erl_tracer ||
	       module == am_dyntrace;
}

Term bif_list(struct heap *h)
{
	Term list = NIL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum row_kind kind = kind_of(&rows[i]);

		if ((kind == ROW_BIF || kind == ROW_DIRECT) && !is_nif_module(rows[i].module)) {
			Term mfa =
				heap_tuple(h, rows[i].module, atom_from_text(rows[i].function), SMALL(rows[i].arity));

			list = heap_cons(h, mfa, list);
		}
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
		enum row_kind kind = kind_of(row);
		struct export *e;

		if (kind == ROW_NONE)
			continue;
		e = export_get(row->module, atom_from_text(row->function), row->arity);
		export_set_bif(e, row->call, row->name);
		e->is_nif = is_nif_module(row->module);
		e->is_own = kind == ROW_OWN;
		if (kind == ROW_DIRECT || kind == ROW_INSTRUCTION)
			export_add_instruction(e);
	}
}
