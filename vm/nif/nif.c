/* SPDX-License-Identifier: Apache-2.0 */
/* The start of the room. */
#include "nif/nif.h"

#include "nif/nif_call.h"
#include "nif/nif_halt.h"
#include "nif/nif_resource.h"
#include "nif/nif_tracer.h"
#include "proc/process_life.h"

static void follow_exit(Process *p)
{
	nif_monitor_exit(p);
	nif_call_exit(p);
}

void nif_init(void)
{
	nif_resource_init();
	nif_monitor_init();
	nif_select_init();
	nif_tracer_init();
	nif_halt_init();
	process_at_exit(follow_exit);
}
