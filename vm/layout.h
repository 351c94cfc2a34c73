/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table erlvm_layout, by which others read the memory of an erlvm that runs: the contract between the VM and its
 * readers. Includes nothing of ours; the includer has defined uint32_t and uint64_t. The table is constant; a reader
 * finds it by its symbol, in .dynsym too.
 */
#ifndef VM_LAYOUT_H
#define VM_LAYOUT_H

#include <stddef.h>

#define LAYOUT_MAGIC 0x74756f79616c6d76u /* "vmlayout" */

enum { LAYOUT_VERSION = 1 };

/* The rooms, in the order of their parts: LAYOUT_ROOM(room, its part, its root: what the members of `typeof` are
 * of). */
#define LAYOUT_ROOMS(LAYOUT_ROOM)                                                                  \
	LAYOUT_ROOM(ATOMS, layout_atoms, "the atom table")                                         \
	LAYOUT_ROOM(PROCESSES, layout_processes, "the process table")                              \
	LAYOUT_ROOM(SCHEDULERS, layout_schedulers, "the set of schedulers")                        \
	LAYOUT_ROOM(CODE, layout_code, "the area of pages of code")                                \
	LAYOUT_ROOM(EXPORTS, layout_exports, "the export table")                                   \
	LAYOUT_ROOM(STUBS, layout_stubs, "code outside modules")                                   \
	LAYOUT_ROOM(PORTS, layout_ports, "the port table")                                         \
	LAYOUT_ROOM(ASYNC, layout_async, "the async pool")                                         \
	LAYOUT_ROOM(CHANNELS, layout_channels, "the table of connections")                         \
	LAYOUT_ROOM(PEERS, layout_peers, "links and monitors")                                     \
	LAYOUT_ROOM(MAILBOXES, layout_mailboxes, "messages")                                       \
	LAYOUT_ROOM(TABLES, layout_tables, "the registry of ETS tables")                           \
	LAYOUT_ROOM(MODULES, layout_modules, "the list of modules")                                \
	LAYOUT_ROOM(MEMORY, layout_memory, "the counters of memory")                               \
	LAYOUT_ROOM(NATIVE, layout_native, "the area of pages of machine code")                    \
	LAYOUT_ROOM(DIRTY, layout_dirty, "the queues of dirty schedulers")

enum layout_room {
#define LAYOUT_ROOM(room, part, root) LAYOUT_ROOM_##room,
	LAYOUT_ROOMS(LAYOUT_ROOM)
#undef LAYOUT_ROOM
	LAYOUT_NROOMS
};

/* What one room tells. */
struct layout_part {
	const void *root;
	const uint32_t *numbers; /* its rows of layout.def */
	uint64_t count;
};

struct layout {
	uint64_t magic;
	uint32_t version, size; /* Units: size of this structure in bytes */
	const struct layout_part *parts[LAYOUT_NROOMS];
};

/* A member's offset; where it is not as wide as the row says, the room does not compile. */
#define LAYOUT_OFFSET(type, member, bytes)                                                                             \
	(offsetof(type, member) + 0 * sizeof(struct {                                                                  \
					  int unused;                                                                  \
					  _Static_assert(sizeof(((type *)0)->member) == (bytes),                       \
							 "layout.def: " #member);                                      \
				  }))

#define LAYOUT_NUMBER(name, number, what) (uint32_t)(number),

/* In a room's file, behind `static const uint32_t layout_numbers[] = {`, its rows by LAYOUT_NUMBER, and `};`. */
#define LAYOUT_PART(part, root)                                                                    \
	extern const struct layout_part part;                                                      \
	const struct layout_part part = { &(root), layout_numbers, sizeof(layout_numbers) / sizeof(*layout_numbers) }

#endif
