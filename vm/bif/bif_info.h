/* SPDX-License-Identifier: Apache-2.0 */
/* State that the built-in functions of processes and the system share. */
#ifndef VM_BIF_BIF_INFO_H
#define VM_BIF_BIF_INFO_H

#include "bif/bif.h"

/* Makes it ready. Called by bif_init; calls the others. */
void bif_proc_init(void);
void bif_persistent_init(void);
void bif_os_init(void);
void bif_info_init(void);

/* Wired by the rooms that know: how many there are now. NULL: the item is unknown. */
extern size_t (*bif_info_port_count)(void);
extern size_t (*bif_info_ets_count)(void);
extern size_t (*bif_info_async_threads)(void);
/* Bytes that went in and out through ports and files. */
extern void (*bif_info_io_bytes)(uint64_t *in, uint64_t *out);

#endif
