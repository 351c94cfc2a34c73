/* SPDX-License-Identifier: Apache-2.0 */
/* Literals that are not wanted any more: the process erts_literal_area_collector has every process copy what it still
 * holds of them (heap/literal.h tells how), then they are freed. */
#ifndef VM_BIF_CODE_BIF_LITERAL_H
#define VM_BIF_CODE_BIF_LITERAL_H

#include "heap/literal.h"
#include "proc/process.h"

void bif_literal_init(void);
/* The collector, when OTP's start has made it; without, the first areas do. */
void bif_literal_set_collector(Term pid);
/* Takes: the areas, which nobody finds any more but who holds terms of them. */
void bif_literal_collect(struct literal_area *chain);
/* Is so much released that whoever releases more should wait? */
bool bif_literal_is_behind(void);
/* What a BIF of p returns: it is called again, with the same n arguments, when areas are freed. */
Term bif_literal_wait(Process *p, const struct export *again, unsigned n, const Term *args);

#endif
