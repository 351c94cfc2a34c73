/* SPDX-License-Identifier: Apache-2.0 */
/* The room of drivers that libraries bring: what the natives of erl_ddll and open_port/2 call. */
#ifndef VM_DRIVER_DRIVER_H
#define VM_DRIVER_DRIVER_H

#include "io/port.h"

/* Once, after the rooms below. */
void driver_room_init(void);

/* The driver that open_port/2 means by these n bytes; NULL: none. The caller must call driver_release after
 * port_open. */
const struct port_driver *driver_take(const char *name, size_t n);
/* driver: whatever get a port, those of the VM too. */
void driver_release(const struct port_driver *driver);

/* The natives of erl_ddll; arguments as there. They fail with badarg. */
Term driver_try_load(Process *p, Term path, Term name, Term options);
Term driver_try_unload(Process *p, Term name, Term options);
Term driver_loaded(Process *p);
Term driver_info(Process *p, Term name, Term item);
Term driver_format_error(Process *p, Term error);
Term driver_monitor(Process *p, Term kind, Term item);
Term driver_demonitor(Process *p, Term ref);

#endif
