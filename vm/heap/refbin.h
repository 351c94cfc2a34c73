/* SPDX-License-Identifier: Apache-2.0 */
/* Off-heap binaries and resources: counted from every heap that names them.
 * Invariant: an object with a count stands in exactly one off-heap list; leaving the list drops the count. */
#ifndef VM_HEAP_REFBIN_H
#define VM_HEAP_REFBIN_H

#include <stdatomic.h>

#include "heap/heap.h"

struct binary {
	atomic_uint_fast64_t refs; /* and BINARY_OF_RESOURCE */
	size_t size_bytes;   /* of data; at least what every refbin shows */
	uint8_t data[];
};

/* The bytes are elsewhere, and stay as long as a resource does, which is counted: `data` is a pointer to it. */
#define BINARY_OF_RESOURCE ((uint64_t)1 << 62)
static inline uint64_t binary_refs(const struct binary *b) { return atomic_load(&b->refs) & ~BINARY_OF_RESOURCE; }

/* Owns: the caller, one reference. Fails: NULL when memory cannot be had. */
struct binary *binary_new(size_t bytes);
void binary_ref(struct binary *b);
void binary_unref(struct binary *b);
/* Only while the caller holds the one reference. Fails: NULL, b is unchanged; never when it gets smaller. */
struct binary *binary_resize(struct binary *b, size_t bytes);

/* A refbin on h over bytes [0, size) of b. Takes: the reference. GC: none. */
Term refbin_put(struct heap *h, struct binary *b, size_t size_bytes);
/* The same over bytes that stand anywhere in b, and do not change. */
Term refbin_put_part(struct heap *h, struct binary *b, const uint8_t *bytes, size_t size_bytes);
/* The same at given words (REFBIN_WORDS) and list. */
Term refbin_put_at(Term *at, Term **off_heap, struct binary *b, uint8_t *bytes, size_t size_bytes);

/* A C object named by a magic ref; `release` runs once, when the last name is gone, on any thread. */
struct resource {
	atomic_uint_fast64_t refs;
	const struct resource_type *type;
	uint64_t number;     /* the ref's number */
	struct resource *next_named; /* see heap/resource_name.h, and so is_named */
	_Atomic bool is_named;
};
struct resource_type {
	const char *name;
	void (*release)(struct resource *r); /* frees r as well */
};
/* r->refs 1, owned by the caller. */
void resource_init(struct resource *r, const struct resource_type *type);
void resource_ref(struct resource *r);
/* Fails: false when the last reference is gone already. For who reads r where it may be found until it is freed. */
bool resource_ref_living(struct resource *r);
void resource_unref(struct resource *r);
/* r is found no more by who reads its name; of resource_name.c. */
void resource_name_drop(struct resource *r);
/* A magic ref to r on h: takes one more reference. GC: none. */
Term resource_put(struct heap *h, struct resource *r);
/* The resource of that type that t names, or NULL. Owns: the term. */
static inline struct resource *resource_get(Term t, const struct resource_type *type)
{
	struct resource *r;

	if (!term_is_boxed(t) || *boxed_ptr(t) != HEADER(MAGIC_WORDS - 1, SUB_REF))
		return NULL;
	r = ((struct magic_ref *)boxed_ptr(t))->resource;
	return r->type == type ? r : NULL;
}

/* A refbin on h over bytes that stay as long as r does. Takes: one reference of r. GC: none. */
Term refbin_put_resource(struct heap *h, struct resource *r, const void *bytes, size_t size_bytes);
/* The resource of that type that b's bytes stay with, or NULL. Owns: b. */
struct resource *binary_resource(const struct binary *b, const struct resource_type *type);

/* The link of an off-heap object (at its header word). */
Term **off_heap_next(Term *object);
/* Units: words of memory outside the heap that the object keeps alive. */
size_t off_heap_size_words(const Term *object);
/* Drops the object's count. */
void off_heap_drop(Term *object);
/* Takes one more count for a copied object and links it in. */
void off_heap_link(Term *object, Term **off_heap);
/* Walks a list and drops every count. */
void off_heap_free(Term *list);

#endif
