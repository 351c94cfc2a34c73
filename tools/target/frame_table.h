/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of .eh_frame_hdr, which files keep that have lost their symbols: where each function of a file begins, and
 * its unwinding record. Only its common form is read: a version 1 table whose rows are two distances of four bytes
 * from its own beginning. Source: LSB, 10.6.2.
 */
#ifndef TOOLS_FRAME_TABLE_H
#define TOOLS_FRAME_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum { FRAME_TABLE_HEAD = 12, FRAME_TABLE_ROW = 8 }; /* bytes */

struct frame_table {
    const unsigned char *rows; /* ascending; borrowed */
    size_t n;
    uint64_t address; /* of the table, as the file has it */
};

/* The size of the table whose first FRAME_TABLE_HEAD bytes these are; 0: not of that form, or of no function. */
size_t frame_table_size(const unsigned char *head);
/* Of the bytes of a table and its address; without rows when they are fewer than it says. */
struct frame_table frame_table_of(const unsigned char *bytes, size_t size, uint64_t address);
/* Where the function numbered i < n begins, and its unwinding record. */
uint64_t frame_table_function(const struct frame_table *table, size_t i);
uint64_t frame_table_record(const struct frame_table *table, size_t i);
/* How many functions begin at the address or before it: the last of them holds it, if one does. */
size_t frame_table_upto(const struct frame_table *table, uint64_t address);

#endif
