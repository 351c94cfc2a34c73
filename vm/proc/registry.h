/* SPDX-License-Identifier: Apache-2.0 */
/* Registered names. Invariant: a name belongs to at most one living process or port; reading takes no lock. */
#ifndef VM_PROC_REGISTRY_H
#define VM_PROC_REGISTRY_H

#include "proc/process.h"

void registry_init(void);
/* The pid or port, or TERM_NONE. Any thread. */
Term registry_whereis(Term name);
/* Fails: false when the name is taken, the process is gone or has a name. */
bool registry_register(Term name, Process *p);
bool registry_register_port(Term name, Term port);
/* Fails: false when nobody has the name. */
bool registry_unregister(Term name);
/* The port is gone: frees its name. */
void registry_unregister_port(Term port, Term name);
/* The exit of p. */
void registry_forget(Process *p);
/* All names onto h. */
Term registry_list(struct heap *h);

#endif
