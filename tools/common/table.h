/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uthash as every table of the tools has it. Include this, not uthash.h. Keys come from VMs that are watched: the hash
 * has a seed that they cannot know, so that nobody can choose keys that all fall into one bucket. An entry that found
 * no memory is not in its table: table_has says so.
 */
#ifndef TOOLS_TABLE_H
#define TOOLS_TABLE_H

#include <stddef.h>

unsigned table_hash(const void *key, size_t size);

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, size, hash) ((hash) = table_hash(key, size))
#include <uthash.h>

/* Whether HASH_ADD put the entry, with its handle hh, into a table. */
#define table_has(entry) ((entry)->hh.tbl != NULL)

#endif
