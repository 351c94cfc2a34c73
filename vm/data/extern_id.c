/* SPDX-License-Identifier: Apache-2.0 */
/* Pids, ports, references: one view of local and external ones. */
#include "data/extern_id.h"

#include <string.h>

#include "base/hash.h"
#include "heap/resource_name.h"
#include "term/atom.h"

enum { REF_LOW_BITS = 18, REF_HIGH_SHIFT = REF_LOW_BITS + 32 };

static void describe_ref(const struct ref *r, struct extern_facts *f)
{
	f->count = 3;
	f->ids[0] = r->number & ((1u << REF_LOW_BITS) - 1);
	f->ids[1] = (uint32_t)(r->number >> REF_LOW_BITS);
	f->ids[2] = (uint32_t)(r->number >> REF_HIGH_SHIFT);
}

static void describe_external(const struct extern_id *x, struct extern_facts *f)
{
	const uint32_t *ids = x->ids;

	f->local = false;
	f->node = x->node->name;
	f->count = header_sub(x->header) == SUB_XREF ? *ids++ : 2;
	memcpy(f->ids, ids, f->count * sizeof(*ids));
}

void extern_id_describe(Term t, struct extern_facts *f)
{
	f->local = true;
	f->node = node_self();
	f->count = 2;
	if (term_is_local_pid(t)) {
		f->ids[0] = pid_number(t);
		f->ids[1] = pid_serial(t);
	} else if (term_is_local_port(t)) {
		f->ids[0] = (uint32_t)port_number(t);
		f->ids[1] = (uint32_t)(port_number(t) >> 32);
	} else if (term_is_local_ref(t)) {
		describe_ref((const struct ref *)boxed_ptr(t), f);
	} else {
		describe_external((const struct extern_id *)boxed_ptr(t), f);
	}
}

static int compare_nodes(struct node_name a, struct node_name b)
{
	if (a.name != b.name)
		return atom_compare(a.name, b.name);
	return (a.creation > b.creation) - (a.creation < b.creation);
}

/* From the highest number down; those one side lacks count as 0. */
static int compare_ids(const struct extern_facts *a, const struct extern_facts *b)
{
	for (unsigned i = a->count > b->count ? a->count : b->count; i-- > 0;) {
		uint32_t x = i < a->count ? a->ids[i] : 0, y = i < b->count ? b->ids[i] : 0;

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

int extern_id_compare(Term a, Term b)
{
	struct extern_facts fa, fb;
	int order;

	extern_id_describe(a, &fa);
	extern_id_describe(b, &fb);
	/* Pids: numbers before nodes; all others the other way round. */
	if (term_is_pid(a)) {
		order = compare_ids(&fa, &fb);
		return order != 0 ? order : compare_nodes(fa.node, fb.node);
	}
	order = compare_nodes(fa.node, fb.node);
	return order != 0 ? order : compare_ids(&fa, &fb);
}

/* Those that count; of a reference without the zeros at its end. */
static unsigned count_ids(const struct extern_id *x, const uint32_t **ids)
{
	unsigned n = 2;

	*ids = x->ids;
	if (header_sub(x->header) != SUB_XREF)
		return n;
	n = *(*ids)++;
	while (n > 0 && (*ids)[n - 1] == 0)
		n--;
	return n;
}

uint64_t extern_id_hash(Term t)
{
	const struct extern_id *x = (const struct extern_id *)boxed_ptr(t);
	const uint32_t *ids;
	unsigned n = count_ids(x, &ids);

	return hash_word(hash_bytes(ids, n * sizeof(*ids)) ^ (uintptr_t)x->node ^
			 (uint64_t)header_sub(x->header) << 58);
}

bool extern_id_same(Term a, Term b)
{
	const struct extern_id *x = (const struct extern_id *)boxed_ptr(a), *y = (const struct extern_id *)boxed_ptr(b);
	const uint32_t *x_ids, *y_ids;
	unsigned n = count_ids(x, &x_ids);

	return header_sub(x->header) == header_sub(y->header) && x->node == y->node && count_ids(y, &y_ids) == n &&
	       memcmp(x_ids, y_ids, n * sizeof(*x_ids)) == 0;
}

/* Takes: the reference. */
static Term put_resource(struct heap *h, struct resource *r)
{
	Term t = resource_put(h, r);

	resource_unref(r);
	return t;
}

/* A short one is one whose other numbers are 0. */
static Term put_local_ref(struct heap *h, const struct extern_facts *f)
{
	uint64_t middle = f->count > 1 ? f->ids[1] : 0, high = f->count > 2 ? f->ids[2] : 0;
	uint64_t tag = f->count == 5 ? (uint64_t)f->ids[4] << 32 | f->ids[3] : 0;
	struct resource *named;
	uint64_t number;
	struct ref *r;

	if (f->count == 4 || f->ids[0] >> REF_LOW_BITS != 0 || high >> (62 - REF_HIGH_SHIFT) != 0 ||
	    (tag != 0 && !term_is_local_pid(tag)))
		return TERM_NONE;
	number = f->ids[0] | middle << REF_LOW_BITS | high << REF_HIGH_SHIFT;
	named = tag == 0 ? resource_name_find(number) : NULL;
	if (named != NULL)
		return put_resource(h, named);
	r = (struct ref *)heap_alloc(h, REF_WORDS);
	r->header = HEADER(REF_WORDS - 1, SUB_REF);
	r->number = number;
	r->tag = tag;
	return term_from_boxed((Term *)r);
}

static Term put_local(struct heap *h, unsigned sub, const struct extern_facts *f)
{
	uint64_t port;

	switch (sub) {
	case SUB_XPID:
		return f->ids[0] >> ID_NUMBER_BITS == 0 ? term_from_pid(f->ids[0], f->ids[1]) : TERM_NONE;
	case SUB_XPORT:
		port = f->ids[0] | (uint64_t)f->ids[1] << 32;
		return port >> 60 == 0 ? term_from_port(port) : TERM_NONE;
	default:
		return put_local_ref(h, f);
	}
}

static Term put_external(struct heap *h, unsigned sub, const struct extern_facts *f)
{
	bool counted = sub == SUB_XREF;
	size_t words = (f->count + counted + 1) / 2;
	struct extern_id *x = (struct extern_id *)heap_alloc(h, sizeof(*x) / sizeof(Term) + words);
	uint32_t *ids = x->ids;

	x->header = HEADER(2 + words, sub);
	x->node = node_get(f->node);
	x->next = h->off_heap;
	h->off_heap = &x->header;
	ids[2 * words - 1] = 0;
	if (counted)
		*ids++ = f->count;
	memcpy(ids, f->ids, f->count * sizeof(*ids));
	return term_from_boxed((Term *)x);
}

Term extern_id_put(struct heap *h, unsigned sub, const struct extern_facts *f)
{
	Term t = TERM_NONE;

	if (node_is_self(f->node))
		t = put_local(h, sub, f);
	return t != TERM_NONE ? t : put_external(h, sub, f);
}
