/* SPDX-License-Identifier: Apache-2.0 */
/* What the built-in functions of processes and the system need before they run. */
#include "bif/system/bif_info.h"
#include "bif/code/bif_literal.h"
#include "code/export.h"
#include "proc/exc.h"

/* erlang:bif_return_trap/2, see exc_return_suspended. OTP has it, too, as hidden; the second argument is for what only
 * OTP does there. */
static Term return_first(Process *p, Term *args)
{
	(void)p;
	return args[0];
}

void bif_proc_init(void)
{
	exc_return_trap = export_new_hidden(am_erlang, am_bif_return_trap, 2, return_first, "bif_return_trap_2");
	bif_info_init();
	bif_literal_init();
	bif_persistent_init();
	bif_process_info_init();
}
