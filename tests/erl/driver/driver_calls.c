/* SPDX-License-Identifier: Apache-2.0 */
/* A driver with every callback; what each did is a message to the port's owner. It is built for three kinds of locks
 * and outputs.
 * build: driver_calls -DTHIS='"driver_calls"' -DVECTOR
 * build: driver_flat -DTHIS='"driver_flat"'
 * build: driver_old_lock -DTHIS='"driver_old_lock"' -DFLAGS=ERL_DRV_FLAG_SOFT_BUSY
 * build: driver_ack -DTHIS='"driver_ack"' -DACK */
#include <erl_driver.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* two functions of old */

#ifdef ACK
#define FLAGS (ERL_DRV_FLAG_USE_PORT_LOCKING | ERL_DRV_FLAG_USE_INIT_ACK)
#endif
#ifndef FLAGS
#define FLAGS ERL_DRV_FLAG_USE_PORT_LOCKING
#endif

struct state {
	ErlDrvPort port;
	ErlDrvTermData id, opener;
	int pipe[2];
	int refuses;
	ErlDrvMonitor monitor;
	ErlDrvPDL lock;
	int mode;
};

static ErlDrvTermData atom(char *text)
{
	return driver_mk_atom(text);
}

/* {Port, What, Number} to the owner. */
static int tell(struct state *s, char *what, long number)
{
	ErlDrvTermData words[] = { ERL_DRV_PORT, s->id, ERL_DRV_ATOM, atom(what), ERL_DRV_INT, (ErlDrvTermData)number,
				   ERL_DRV_TUPLE, 3 };

	return erl_drv_output_term(s->id, words, sizeof(words) / sizeof(words[0]));
}

static ErlDrvData start(ErlDrvPort port, char *command)
{
	struct state *s = driver_alloc(sizeof(*s));

	memset(s, 0, sizeof(*s));
	s->port = port;
	s->id = driver_mk_port(port);
	s->opener = driver_caller(port);
	s->pipe[0] = s->pipe[1] = -1;
	tell(s, s->opener == driver_connected(port) ? "start" : "start_by_other", (long)strlen(command));
	s->refuses = strstr(command, "ack_bad") != NULL;
	if (s->refuses || strstr(command, "ack_later") != NULL)
		driver_set_timer(port, 1);
	erl_drv_set_os_pid(port, 4711);
	return (ErlDrvData)s;
}

static void stop(ErlDrvData data)
{
	struct state *s = (struct state *)data;

	if (s->pipe[0] >= 0)
		driver_select(s->port, (ErlDrvEvent)(long)s->pipe[0], ERL_DRV_USE, 0);
	if (s->pipe[1] >= 0)
		close(s->pipe[1]);
	driver_free(s);
}

#ifdef VECTOR
static void outputv(ErlDrvData data, ErlIOVec *v)
{
	struct state *s = (struct state *)data;
	char bytes[64];

	if (s->mode == 'q') {
		driver_enqv(s->port, v, 0);
		return;
	}
	if (v->size < sizeof(bytes))
		tell(s, "outputv", (long)driver_vec_to_buf(v, bytes, sizeof(bytes)));
	if (v->iov[0].iov_len != 0 || v->binv[0] != NULL)
		tell(s, "no_room_for_a_header", v->vsize);
	driver_outputv(s->port, "hd", 2, v, 1);
}
#endif

static void output(ErlDrvData data, char *bytes, ErlDrvSizeT n)
{
	struct state *s = (struct state *)data;

	if (s->mode == 'q')
		driver_enq(s->port, bytes, n);
	else if (s->mode == 'h')
		driver_output2(s->port, "ab", 2, bytes, n);
	else
		driver_output(s->port, bytes, n);
}

static void ready_input(ErlDrvData data, ErlDrvEvent event)
{
	struct state *s = (struct state *)data;
	char bytes[16];

	tell(s, "ready_input", (long)read((int)(long)event, bytes, sizeof(bytes)));
}

static void ready_output(ErlDrvData data, ErlDrvEvent event)
{
	struct state *s = (struct state *)data;

	tell(s, "ready_output", (long)event == s->pipe[1]);
	driver_select(s->port, event, ERL_DRV_WRITE, 0);
}

static void stop_select(ErlDrvEvent event, void *reserved)
{
	(void)reserved;
	close((int)(long)event);
}

static void timeout(ErlDrvData data)
{
	struct state *s = (struct state *)data;

	tell(s, "timeout", driver_caller(s->port) == driver_mk_term_nil());
	erl_drv_init_ack(s->port, s->refuses ? ERL_DRV_ERROR_BADARG : data);
}

static void ready_async(ErlDrvData data, ErlDrvThreadData job)
{
	tell((struct state *)data, "ready_async", (long)job);
}

static void flush(ErlDrvData data)
{
	struct state *s = (struct state *)data;

	tell(s, "flush", (long)driver_sizeq(s->port));
	driver_set_timer(s->port, 1);
	driver_deq(s->port, driver_sizeq(s->port));
}

static void process_exit(ErlDrvData data, ErlDrvMonitor *monitor)
{
	struct state *s = (struct state *)data;
	ErlDrvTermData words[] = { ERL_DRV_ATOM, atom("process_exit"), ERL_DRV_PID,
				   driver_get_monitored_process(s->port, monitor), ERL_DRV_INT,
				   (ErlDrvTermData)driver_compare_monitors(monitor, &s->monitor), ERL_DRV_TUPLE, 3 };

	driver_output_term(s->port, words, 8);
}

static void work(void *data)
{
	(void)data;
}

/* Queue functions: what is left is told as text. */
static ErlDrvSSizeT use_queue(struct state *s, char *bytes, ErlDrvSizeT n, char *answer, ErlDrvSizeT room)
{
	ErlDrvBinary *b = driver_alloc_binary(n);
	SysIOVec *v;
	int parts, at = 0;

	memcpy(b->orig_bytes, bytes, n);
	at += snprintf(answer + at, room - at, "%d", (int)driver_binary_inc_refc(b));
	driver_binary_dec_refc(b);
	driver_enq(s->port, bytes, n);
	driver_enq_bin(s->port, b, 1, 1);
	driver_pushq(s->port, "<>", 2);
	driver_pushq_bin(s->port, b, 0, 1);
	at += snprintf(answer + at, room - at, " %d %d ", (int)driver_binary_get_refc(b), (int)driver_sizeq(s->port));
	v = driver_peekq(s->port, &parts);
	for (int i = 0; i < parts; i++)
		at += snprintf(answer + at, room - at, "%.*s", (int)v[i].iov_len, (char *)v[i].iov_base);
	at += snprintf(answer + at, room - at, " %d", (int)driver_deq(s->port, 2));
	driver_deq(s->port, driver_sizeq(s->port));
	at += snprintf(answer + at, room - at, " %d", (int)driver_binary_get_refc(b));
	driver_free_binary(b);
	return at;
}

static ErlDrvSSizeT use_lock(struct state *s, char *answer, ErlDrvSizeT room)
{
	ErlDrvPDL lock = driver_pdl_create(s->port), second = driver_pdl_create(s->port);
	int at = 0;

	at += snprintf(answer + at, room - at, "%d %d", second == NULL, (int)driver_pdl_get_refc(lock));
	driver_pdl_lock(lock);
	at += snprintf(answer + at, room - at, " %d", (int)driver_pdl_get_refc(lock));
	driver_enq(s->port, "abc", 3);
	driver_pdl_unlock(lock);
	at += snprintf(answer + at, room - at, " %d %d", (int)driver_pdl_inc_refc(lock), (int)driver_sizeq(s->port));
	driver_deq(s->port, 3);
	at += snprintf(answer + at, room - at, " %d", (int)driver_pdl_dec_refc(lock));
	return at;
}

static ErlDrvSSizeT tell_flags(struct state *s, char *answer, ErlDrvSizeT room)
{
	ErlDrvSizeT low = ERL_DRV_BUSY_MSGQ_READ_ONLY, high = ERL_DRV_BUSY_MSGQ_READ_ONLY;
	ErlDrvSysInfo info;
	char value[16];
	size_t value_room = sizeof(value);
	int at = 0;

	driver_system_info(&info, sizeof(info));
	erl_drv_busy_msgq_limits(s->port, &low, &high);
	at += snprintf(answer + at, room - at, "%d %d %d %d", get_port_flags(s->port), info.driver_major_version,
		       info.driver_minor_version, (int)(low < high));
	erl_drv_putenv("A_DRIVER_HAS", "set it");
	at += snprintf(answer + at, room - at, " %d", erl_drv_getenv("A_DRIVER_HAS", value, &value_room));
	at += snprintf(answer + at, room - at, " %s %d %s", value, (int)value_room, erl_errno_id(13));
	return at;
}

static void select_pipe(struct state *s)
{
	if (pipe(s->pipe) != 0)
		return;
	driver_select(s->port, (ErlDrvEvent)(long)s->pipe[0], ERL_DRV_READ | ERL_DRV_USE, 1);
	driver_select(s->port, (ErlDrvEvent)(long)s->pipe[1], ERL_DRV_WRITE | ERL_DRV_USE, 1);
}

static void make_port(struct state *s)
{
	struct state *other = driver_alloc(sizeof(*other));

	*other = *s;
	other->pipe[0] = other->pipe[1] = -1;
	other->port = driver_create_port(s->port, driver_caller(s->port), "made by a driver", (ErlDrvData)other);
	other->id = driver_mk_port(other->port);
	tell(other, "made", 0);
}

/* What answers by messages, or not at all. */
static void act(struct state *s, unsigned command, char *bytes, ErlDrvSizeT n)
{
	unsigned key = 7;

	switch (command) {
	case 'm': s->mode = bytes[0]; break;
	case 'p': select_pipe(s); break;
	case 'w': tell(s, "written", (long)write(s->pipe[1], bytes, n)); break;
	case 't': driver_set_timer(s->port, 1); break;
	case 'c': driver_set_timer(s->port, 1000000); driver_cancel_timer(s->port); break;
	case 'a': for (long i = 1; i <= 5; i++) driver_async(s->port, &key, work, (void *)i, NULL); break;
	case 'A': driver_async(s->port, NULL, work, (void *)6, NULL); break;
	case 'M': tell(s, "monitor", driver_monitor_process(s->port, driver_caller(s->port), &s->monitor)); break;
	case 'D': tell(s, "demonitor", driver_demonitor_process(s->port, &s->monitor)); break;
	case 'b': set_busy_port(s->port, bytes[0] == '1'); break;
	case 'B': set_port_control_flags(s->port, bytes[0] == '1' ? PORT_CONTROL_FLAG_BINARY : 0); break;
	case 'F': driver_failure_atom(s->port, "it_failed"); break;
	case 'f': driver_failure(s->port, 17); break;
	case 'x': driver_failure_posix(s->port, 2); break;
	case 'E': driver_failure_eof(s->port); break;
	case 'e': driver_exit(s->port, 13); break;
	case 'P': make_port(s); break;
	case 'o': {
		ErlDrvBinary *b = driver_alloc_binary(100);

		memset(b->orig_bytes, 'x', 100);
		driver_output_binary(s->port, "hd", 2, b, 10, 80);
		driver_output_binary(s->port, NULL, 0, b, 1, 3);
		driver_free_binary(b);
		break;
	}
	}
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned command, char *bytes, ErlDrvSizeT n, char **answer,
			    ErlDrvSizeT room)
{
	struct state *s = (struct state *)data;
	unsigned long left = 0;

	switch (command) {
	case 'r':
		if (n <= room) {
			memcpy(*answer, bytes, n);
		} else {
			*answer = driver_alloc(n);
			memcpy(*answer, bytes, n);
		}
		return (ErlDrvSSizeT)n;
	case 'R':
		*answer = (char *)driver_alloc_binary(n);
		memcpy(((ErlDrvBinary *)*answer)->orig_bytes, bytes, n);
		return 0;
	case '0': *answer = NULL; return 0;
	case '-': return -1;
	case 'q': return use_queue(s, bytes, n, *answer, room);
	case 'l': return use_lock(s, *answer, room);
	case 'i': return tell_flags(s, *answer, room);
	case 'T':
		driver_set_timer(s->port, 1000000);
		driver_read_timer(s->port, &left);
		driver_cancel_timer(s->port);
		return snprintf(*answer, room, "%d", left > 900000 && left <= 1000000);
	case 's':
		return snprintf(*answer, room, "%d%d", erl_drv_consume_timeslice(s->port, 50),
				erl_drv_consume_timeslice(s->port, 50));
	default:
		act(s, command, bytes, n);
		return 0;
	}
}

static ErlDrvSSizeT call(ErlDrvData data, unsigned command, char *bytes, ErlDrvSizeT n, char **answer,
			 ErlDrvSizeT room, unsigned *flags)
{
	static char kept[] = { (char)131, 97, 77 };

	(void)data;
	switch (command) {
	case 0:
		if (n > room)
			*answer = driver_alloc(n);
		memcpy(*answer, bytes, n);
		return (ErlDrvSSizeT)n;
	case 1:
		*answer = kept;
		*flags = DRIVER_CALL_KEEP_BUFFER;
		return sizeof(kept);
	case 2: return -1;
	case 3: return 0;
	default:
		memcpy(*answer, "\203\377", 2); /* no term */
		return 2;
	}
}

static ErlDrvEntry entry = {
	.start = start, .stop = stop, .output = output, .ready_input = ready_input, .ready_output = ready_output,
	.driver_name = THIS, .control = control, .timeout = timeout, .ready_async = ready_async, .flush = flush,
	.call = call, .extended_marker = (int)ERL_DRV_EXTENDED_MARKER, .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
	.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION, .driver_flags = FLAGS, .process_exit = process_exit,
	.stop_select = stop_select,
#ifdef VECTOR
	.outputv = outputv,
#endif
};

DRIVER_INIT(driver_calls)
{
	return &entry;
}
