/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries ask for the end of the VM, while they load: enif_set_option. It holds for an end that flushes. */
#ifndef VM_NIF_NIF_HALT_H
#define VM_NIF_NIF_HALT_H

#include <stdbool.h>

struct nif_library;

/* Part of struct nif_library. */
struct nif_halt {
	void (*on_halt)(void *data); /* NULL: none */
	bool delays;                 /* the VM ends when no function of the library runs any more */
	struct nif_library *next;    /* of those with on_halt; the lock of halt.c */
};

/* Once. */
void nif_halt_init(void);
/* What l has asked for while it loaded is in force: before any of its functions is called. */
void nif_halt_enter(struct nif_library *l);
/* l goes. */
void nif_halt_leave(struct nif_library *l);
/* Around a call of a function whose library delays the end. The first does not return when the VM is ending. */
void nif_halt_begin_call(void);
void nif_halt_end_call(void);

#endif
