/* SPDX-License-Identifier: Apache-2.0 */
/* The room of the tables, as main.c sees it. */
#ifndef VM_ETS_ETS_H
#define VM_ETS_ETS_H

/* After process_table_init. */
void ets_init(void);

#endif
