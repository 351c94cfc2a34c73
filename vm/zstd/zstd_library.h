/* SPDX-License-Identifier: Apache-2.0 */
/* The room of zstd: its native functions, as a library that is linked in. */
#ifndef VM_ZSTD_ZSTD_LIBRARY_H
#define VM_ZSTD_ZSTD_LIBRARY_H

#include "nif/nif_abi.h"

extern const struct nif_entry zstd_zstd;

#endif
