/* SPDX-License-Identifier: Apache-2.0 */
/* What a range of a program's addresses is. */
#ifndef TOOLS_MEMORY_MAP_H
#define TOOLS_MEMORY_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct memory_mapping {
    uint64_t start, end; /* addresses: [start, end) */
    uint64_t offset, inode; /* where it begins in its file, and which that is; 0 without */
    bool executable;
    bool file;   /* of a file that has a name */
    bool shared; /* a page of it that was never written becomes one when it is read */
};

#endif
