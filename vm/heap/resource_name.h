/* SPDX-License-Identifier: Apache-2.0 */
/* Resources whose references were written in the external term format: when such a text comes back it names the
 * resource again, as long as that lives.
 * Invariant: a resource is in the table from resource_name_publish until its last reference is gone. */
#ifndef VM_HEAP_RESOURCE_NAME_H
#define VM_HEAP_RESOURCE_NAME_H

#include "heap/refbin.h"

void resource_name_init(void);
/* A reference to r is being written. The caller holds one. Any thread. */
void resource_name_publish(struct resource *r);
/* The resource that was written with this number, or NULL. Owns: a reference. Any thread. */
struct resource *resource_name_find(uint64_t number);

#endif
