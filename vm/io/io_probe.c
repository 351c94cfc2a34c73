/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of the room. */
#include "io/io_probe.h"

#include "proc/probe_tell.h"

PROBE_COLD void probe_aio_pool__add(Term port, int length)
{
	PROBE_TELL(aio_pool__add, port, length);
}

PROBE_COLD void probe_aio_pool__get(Term port, int length)
{
	PROBE_TELL(aio_pool__get, port, length);
}

PROBE_COLD void probe_efile_drv__entry(const struct efile_job *job, Term port, Term pid)
{
	const int64_t *i = job->told == EFILE_READ_LINE ? (int64_t[]){ job->i[0], job->i[1], 0, job->i[2] } : job->i;

	PROBE_TELL(efile_drv__entry, job->thread, job->tag, job->user_tag, job->told, job->s[0], job->s[1], i[0], i[1],
		   i[2], i[3], port, pid);
}

PROBE_COLD void probe_efile_drv__int_entry(const struct efile_job *job)
{
	PROBE_TELL(efile_drv__int_entry, job->thread, job->tag, job->told);
}

PROBE_COLD void probe_efile_drv__int_return(const struct efile_job *job)
{
	PROBE_TELL(efile_drv__int_return, job->thread, job->tag, job->told);
}

PROBE_COLD void probe_efile_drv__return(const struct efile_job *job)
{
	PROBE_TELL(efile_drv__return, job->thread, job->tag, job->user_tag, job->told, job->error == 0,
		   job->error);
}

PROBE_COLD void probe_port__open(const struct port *port, Term pid)
{
	PROBE_TELL(port__open, pid, port->name, port->id);
}

PROBE_COLD void probe_port__command(const struct port *port, Term pid, const char *type)
{
	PROBE_TELL(port__command, pid, port->id, port->name, type);
}

PROBE_COLD void probe_port__control(const struct port *port, Term pid, int command)
{
	PROBE_TELL(port__control, pid, port->id, port->name, command);
}

PROBE_COLD void probe_port__exit(const struct port *port, Term pid, Term reason)
{
	PROBE_TELL(port__exit, pid, port->id, port->name, reason);
}

PROBE_COLD void probe_port__connect(const struct port *port, Term pid, Term new_pid)
{
	PROBE_TELL(port__connect, pid, port->id, port->name, new_pid);
}

PROBE_COLD void probe_port__busy(const struct port *port)
{
	PROBE_TELL(port__busy, port->id);
}

PROBE_COLD void probe_port__not_busy(const struct port *port)
{
	PROBE_TELL(port__not_busy, port->id);
}

PROBE_COLD void probe_driver__init(const char *name, int major, int minor, int flags)
{
	PROBE_TELL(driver__init, name, major, minor, flags);
}

PROBE_COLD void probe_driver__finish(const char *name)
{
	PROBE_TELL(driver__finish, name);
}

PROBE_COLD void probe_driver__stop_select(const char *name)
{
	PROBE_TELL(driver__stop_select, name);
}

PROBE_COLD void probe_driver__start(const struct port *port, Term pid, const char *driver)
{
	PROBE_TELL(driver__start, pid, driver, port->id);
}

PROBE_COLD void probe_driver__stop(const struct port *port, Term pid, const char *driver)
{
	PROBE_TELL(driver__stop, pid, driver, port->id);
}

PROBE_COLD void probe_driver__flush(const struct port *port, Term pid)
{
	PROBE_TELL(driver__flush, pid, port->id, port->name);
}

PROBE_COLD void probe_driver__output(const struct port *port, Term pid, int64_t bytes)
{
	PROBE_TELL(driver__output, pid, port->id, port->name, bytes);
}

PROBE_COLD void probe_driver__outputv(const struct port *port, Term pid, int64_t bytes)
{
	PROBE_TELL(driver__outputv, pid, port->id, port->name, bytes);
}

PROBE_COLD void probe_driver__timeout(const struct port *port, Term pid)
{
	PROBE_TELL(driver__timeout, pid, port->id, port->name);
}

PROBE_COLD void probe_driver__control(const struct port *port, Term pid, int command, int64_t bytes)
{
	PROBE_TELL(driver__control, pid, port->id, port->name, command, bytes);
}

PROBE_COLD void probe_driver__call(const struct port *port, Term pid, int command, int64_t bytes)
{
	PROBE_TELL(driver__call, pid, port->id, port->name, command, bytes);
}

PROBE_COLD void probe_driver__ready_input(const struct port *port, Term pid)
{
	PROBE_TELL(driver__ready_input, pid, port->id, port->name);
}

PROBE_COLD void probe_driver__ready_output(const struct port *port, Term pid)
{
	PROBE_TELL(driver__ready_output, pid, port->id, port->name);
}

PROBE_COLD void probe_driver__ready_async(const struct port *port, Term pid)
{
	PROBE_TELL(driver__ready_async, pid, port->id, port->name);
}

PROBE_COLD void probe_driver__process_exit(const struct port *port, Term pid)
{
	PROBE_TELL(driver__process_exit, pid, port->id, port->name);
}

PROBE_COLD void probe_driver__return(const char *driver, Term port, const char *callback, uint64_t began)
{
	uint64_t now = ticks_now(), took = ticks_between_ns(began, now);

	PROBE_TELL_WITH(driver__return, batch_begin_at(now), (void)0, driver, port, callback, (int64_t)took);
}
