/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of the room: texts are made here, only when somebody listens. */
#include "io/io_probe.h"

#include <string.h>

#include "proc/probe.h"

#define ID_TEXT(name, id) char name##_text[PROBE_TEXT_BYTES]; const char *name = probe_term_text(name##_text, id)

PROBE_COLD void probe_aio_pool__add(Term port, int length)
{
	ID_TEXT(text, port);

	PROBE_FIRE(aio_pool__add, text, length);
}

PROBE_COLD void probe_aio_pool__get(Term port, int length)
{
	ID_TEXT(text, port);

	PROBE_FIRE(aio_pool__get, text, length);
}

/* The text as probes show it: cut with "..." to what PROBE_TEXT_BYTES holds, not inside a UTF-8 character. */
static const char *shown(const char *text, char cut[PROBE_TEXT_BYTES])
{
	size_t n;

	if (text == NULL)
		return "";
	if (strnlen(text, PROBE_TEXT_BYTES) < PROBE_TEXT_BYTES)
		return text;
	n = PROBE_TEXT_BYTES - sizeof("...");
	while (n > 0 && ((uint8_t)text[n] & 0xc0) == 0x80)
		n--;
	memcpy(cut, text, n);
	strcpy(cut + n, "...");
	return cut;
}

#define SHOWN(name, text) char name##_cut[PROBE_TEXT_BYTES]; const char *name = shown(text, name##_cut)

PROBE_COLD void probe_efile_drv__entry(const struct efile_job *job, Term port)
{
	ID_TEXT(text, port);
	SHOWN(tag, job->user_tag);
	SHOWN(s1, job->s[0]);
	SHOWN(s2, job->s[1]);

	PROBE_FIRE(efile_drv__entry, (int)job->thread, (int64_t)job->tag, tag, (int)job->command, s1, s2, job->i[0],
		   job->i[1], job->i[2], job->i[3], text);
}

PROBE_COLD void probe_efile_drv__int_entry(const struct efile_job *job)
{
	PROBE_FIRE(efile_drv__int_entry, (int)job->thread, (int64_t)job->tag, (int)job->command);
}

PROBE_COLD void probe_efile_drv__int_return(const struct efile_job *job)
{
	PROBE_FIRE(efile_drv__int_return, (int)job->thread, (int64_t)job->tag, (int)job->command);
}

PROBE_COLD void probe_efile_drv__return(const struct efile_job *job)
{
	SHOWN(tag, job->user_tag);

	PROBE_FIRE(efile_drv__return, (int)job->thread, (int64_t)job->tag, tag, (int)job->command, job->error == 0,
		   job->error);
}

PROBE_COLD void probe_port__open(const struct port *port, Term pid)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	SHOWN(name, port->name);

	PROBE_FIRE(port__open, caller, name, id);
}

PROBE_COLD void probe_port__command(const struct port *port, Term pid, const char *type)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	SHOWN(name, port->name);

	PROBE_FIRE(port__command, caller, id, name, type);
}

PROBE_COLD void probe_port__control(const struct port *port, Term pid, int command)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	SHOWN(name, port->name);

	PROBE_FIRE(port__control, caller, id, name, command);
}

PROBE_COLD void probe_port__exit(const struct port *port, Term pid, Term reason)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	ID_TEXT(why, reason);
	SHOWN(name, port->name);

	PROBE_FIRE(port__exit, caller, id, name, why);
}

PROBE_COLD void probe_port__connect(const struct port *port, Term pid, Term new_pid)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	ID_TEXT(new_owner, new_pid);
	SHOWN(name, port->name);

	PROBE_FIRE(port__connect, caller, id, name, new_owner);
}

PROBE_COLD void probe_port__busy(const struct port *port)
{
	ID_TEXT(id, port->id);

	PROBE_FIRE(port__busy, id);
}

PROBE_COLD void probe_port__not_busy(const struct port *port)
{
	ID_TEXT(id, port->id);

	PROBE_FIRE(port__not_busy, id);
}

PROBE_COLD void probe_driver__init(const char *name, int major, int minor, int flags)
{
	PROBE_FIRE(driver__init, name, major, minor, flags);
}

PROBE_COLD void probe_driver__start(const struct port *port, Term pid, const char *driver)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);

	PROBE_FIRE(driver__start, caller, driver, id);
}

PROBE_COLD void probe_driver__stop(const struct port *port, Term pid, const char *driver)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);

	PROBE_FIRE(driver__stop, caller, driver, id);
}

PROBE_COLD void probe_driver__flush(const struct port *port, Term pid)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	SHOWN(name, port->name);

	PROBE_FIRE(driver__flush, caller, id, name);
}

PROBE_COLD void probe_driver__output(const struct port *port, Term pid, int64_t bytes)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	SHOWN(name, port->name);

	PROBE_FIRE(driver__output, caller, id, name, bytes);
}

PROBE_COLD void probe_driver__control(const struct port *port, Term pid, int command, int64_t bytes)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	SHOWN(name, port->name);

	PROBE_FIRE(driver__control, caller, id, name, command, bytes);
}

PROBE_COLD void probe_driver__ready_input(const struct port *port, Term pid)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	SHOWN(name, port->name);

	PROBE_FIRE(driver__ready_input, caller, id, name);
}

PROBE_COLD void probe_driver__ready_output(const struct port *port, Term pid)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	SHOWN(name, port->name);

	PROBE_FIRE(driver__ready_output, caller, id, name);
}

PROBE_COLD void probe_driver__ready_async(const struct port *port, Term pid)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	SHOWN(name, port->name);

	PROBE_FIRE(driver__ready_async, caller, id, name);
}

PROBE_COLD void probe_driver__process_exit(const struct port *port, Term pid)
{
	ID_TEXT(caller, pid);
	ID_TEXT(id, port->id);
	SHOWN(name, port->name);

	PROBE_FIRE(driver__process_exit, caller, id, name);
}
