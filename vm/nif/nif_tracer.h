/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries whose module traces (code/nif_function.h, nif_call_tracer). */
#ifndef VM_NIF_NIF_TRACER_H
#define VM_NIF_NIF_TRACER_H

#include "nif/nif_library.h"

void nif_tracer_init(void);
/* l is that of the code now. Does nothing when it has no functions of tracers. */
void nif_tracer_enter(struct nif_library *l, const struct code_instance *code);
/* The code of l has gone. */
void nif_tracer_leave(const struct nif_library *l);

#endif
