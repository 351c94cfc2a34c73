/* SPDX-License-Identifier: Apache-2.0 */
/* Resources: objects of libraries, which terms name. A resource goes when no term and no library holds it any more;
 * its destructor then runs on a worker thread, as whoever dropped the last term may be in the middle of a collection.
 * Types are known by module and name; a newer version of the module may take them over, with the resources that there
 * are. */
#ifndef VM_NIF_NIF_RESOURCE_H
#define VM_NIF_NIF_RESOURCE_H

#include "heap/refbin.h"
#include "nif/nif_env.h"

struct nif_watch;        /* monitor.c */

struct nif_type {
	atomic_size_t refs;  /* being known; each resource */
	Term module, name;
	struct nif_type_init calls; /* under the lock of types */
	struct nif_library *owner;  /* the same; counted when there are calls */
	_Atomic bool has_calls;
	struct nif_type *next; /* the same: of those that are known */
};

struct nif_resource {
	struct resource base;
	struct nif_type *type; /* counted */
	size_t size_bytes;
	struct nif_resource *next_dead;
	struct nif_watch *watches; /* monitor.c's lock: processes that it monitors */
	_Alignas(16) uint8_t object[];
};

/* Types that a library has opened while it loads. */
struct nif_opened {
	struct nif_opening {
		struct nif_opening *next;
		struct nif_type *type;
		bool is_new;
		struct nif_type_init calls;
	} *first;
};

void nif_resource_init(void);
/* Is a destructor of a resource that no term holds still to run, or running? */
bool nif_resources_are_ending(void);
/* What l has opened is in force. Empties o. */
void nif_types_enter(struct nif_opened *o, struct nif_library *l);
/* It is not. */
void nif_types_forget(struct nif_opened *o);

static inline struct nif_resource *nif_resource_of(void *object)
{
	return (struct nif_resource *)((uint8_t *)object - offsetof(struct nif_resource, object));
}
/* The calls of its type as they are now, and the library they are in, counted; NULL: none. */
struct nif_library *nif_type_calls(struct nif_type *type, struct nif_type_init *calls);
/* The resource that t names: a reference, or a binary of enif_make_resource_binary. Owns: the term. NULL: none. */
struct nif_resource *nif_resource_from_term(Term t);

/* ---- select.c */
void nif_select_init(void);

/* ---- monitor.c */
void nif_monitor_init(void);
/* The resource is dead. */
void nif_monitor_forget(struct nif_resource *r);
/* The resources that monitor the process, as terms on h, in front of list. Any thread. */
Term nif_monitor_list(Term pid, struct heap *h, Term list);
/* For process_at_exit. */
void nif_monitor_exit(Process *p);

#endif
