/* SPDX-License-Identifier: Apache-2.0 */
/* The natives of erl_ddll. */
#include "bif/bif.h"
#include "driver/driver.h"

Term bif_erl_ddll_try_load_3(Process *p, Term *args)
{
	return driver_try_load(p, args[0], args[1], args[2]);
}

Term bif_erl_ddll_try_unload_2(Process *p, Term *args)
{
	return driver_try_unload(p, args[0], args[1]);
}

Term bif_erl_ddll_loaded_drivers_0(Process *p, Term *args)
{
	(void)args;
	return driver_loaded(p);
}

Term bif_erl_ddll_info_2(Process *p, Term *args)
{
	return driver_info(p, args[0], args[1]);
}

Term bif_erl_ddll_format_error_int_1(Process *p, Term *args)
{
	return driver_format_error(p, args[0]);
}

Term bif_erl_ddll_monitor_2(Process *p, Term *args)
{
	return driver_monitor(p, args[0], args[1]);
}

Term bif_erl_ddll_demonitor_1(Process *p, Term *args)
{
	return driver_demonitor(p, args[0]);
}
