/* SPDX-License-Identifier: Apache-2.0 */
/* Wiring of the interpreter. */
#include "exec/exec.h"

#include "code/code_area.h"
#include "code/emit.h"
#include "data/compare.h"
#include "exec/call.h"
#include "exec/unwind.h"
#include "exec/traced.h"

void exec_init(void)
{
	opcodes_init();
	emit_init();
	call_init();
	sched_run_process = exec_run;
	module_translate = emit_module;
	probe_find_function = code_find_mfa;
	compare_hooks = (struct compare_hooks){ sched_lend, sched_reclaim };
	probe_code_given = code_area_given_count();
}
