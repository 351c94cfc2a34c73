/* SPDX-License-Identifier: Apache-2.0 */
/* The room of native functions of libraries (NIFs). */
#ifndef VM_NIF_NIF_H
#define VM_NIF_NIF_H

/* Once, after the rooms below. */
void nif_init(void);

#endif
