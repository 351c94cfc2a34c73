/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that no scheduler runs: the test acts for them. */
#ifndef TESTS_UNIT_PROC_FAKE_H
#define TESTS_UNIT_PROC_FAKE_H

#include "unit.h"

#include "proc/message.h"
#include "proc/monitor.h"
#include "proc/process_life.h"
#include "proc/registry.h"
#include "proc/sched.h"

static inline void fake_init(void)
{
	unit_init();
	process_table_init(64);
	registry_init();
	sched_init(2, 2);
}

static inline Process *fake_process(void)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;

	return process_peek(process_spawn(NULL, am_erlang, am_apply, NIL, &o, NULL));
}

static inline Term fake_receive(Process *p)
{
	Term message;

	message_rewind(p);
	message = message_peek(p);
	if (message != TERM_NONE)
		message_remove(p);
	return message;
}

#endif
