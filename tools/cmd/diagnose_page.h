/* SPDX-License-Identifier: Apache-2.0 */
/* What diagnose found, as one page for a browser that needs nothing beside it: to be added to a ticket. */
#ifndef TOOLS_DIAGNOSE_PAGE_H
#define TOOLS_DIAGNOSE_PAGE_H

#include <stdio.h>

#include "diagnose_print.h"

/* All findings. Fails: -errno of writing. No message. */
int diagnosis_write_page(const struct diagnosis *d, FILE *out);

#endif
