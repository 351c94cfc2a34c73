/* SPDX-License-Identifier: Apache-2.0 */
/* What the built-in functions of processes and the system need before they run. */
#include "bif/bif_info.h"
#include "bif/bif_literal.h"

void bif_proc_init(void)
{
	bif_info_init();
	bif_literal_init();
	bif_persistent_init();
	bif_process_info_init();
}
