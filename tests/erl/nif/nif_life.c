/* SPDX-License-Identifier: Apache-2.0 */
/* What lasts longer than a call, for nif_life.erl: environments, messages, resources, monitors, dirty functions,
 * functions in place of others, threads, descriptors, queues. */
#include <erl_nif.h>
#include <string.h>
#include <unistd.h>

static ErlNifResourceType *plain_type, *told_type;

/* A resource of told_type tells `watcher` of what happens to it. */
struct told {
	ErlNifPid watcher;
	int number, fds[2];
	ErlNifMonitor monitor;
};

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
	return enif_make_atom(env, name);
}

static void tell(ErlNifEnv *env, struct told *r, const char *what, int detail)
{
	ErlNifEnv *message = enif_alloc_env();

	enif_send(env, &r->watcher, message, enif_make_tuple3(message, atom(message, what), enif_make_int(message, r->number), enif_make_int(message, detail)));
	enif_free_env(message);
}

/* The port that is registered as told_port, if there is one, is given a command, too. */
static void told_dtor(ErlNifEnv *env, void *obj)
{
	ErlNifPort port;

	if (enif_whereis_port(env, atom(env, "told_port"), &port))
		enif_port_command(env, &port, NULL, enif_make_string(env, "ended", ERL_NIF_LATIN1));
	tell(env, obj, "dtor", (int)enif_sizeof_resource(obj) == (int)sizeof(struct told));
}

static void told_down(ErlNifEnv *env, void *obj, ErlNifPid *pid, ErlNifMonitor *monitor)
{
	struct told *r = obj;

	tell(env, r, "down", enif_is_process_alive(env, pid) + 2 * (enif_compare_monitors(monitor, &r->monitor) == 0));
}

static void told_stop(ErlNifEnv *env, void *obj, ErlNifEvent fd, int is_direct)
{
	struct told *r = obj;

	(void)is_direct;
	tell(env, r, "stop", fd == r->fds[0]);
	close(r->fds[0]);
	close(r->fds[1]);
}

static void told_call(ErlNifEnv *env, void *obj, void *data)
{
	(void)env;
	*(int *)data = ((struct told *)obj)->number;
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
	ErlNifResourceTypeInit init = { .dtor = told_dtor, .stop = told_stop, .down = told_down, .members = 4,
					.dyncall = told_call };
	ErlNifResourceFlags tried;

	(void)data;
	(void)info;
	plain_type = enif_open_resource_type(env, NULL, "plain", NULL, ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, &tried);
	told_type = enif_init_resource_type(env, "told", &init, ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, &tried);
	return plain_type == NULL || told_type == NULL || tried != ERL_NIF_RT_CREATE;
}

/* ---- resources */

static ERL_NIF_TERM make_told(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct told *r = enif_alloc_resource(told_type, sizeof(*r));
	ERL_NIF_TERM t;

	(void)argc;
	memset(r, 0, sizeof(*r));
	enif_self(env, &r->watcher);
	if (!enif_get_int(env, argv[0], &r->number))
		return enif_make_badarg(env);
	t = enif_make_resource(env, r);
	enif_release_resource(r);
	return t;
}

/* {Opened, Tried}: only a load may open a type. */
static ERL_NIF_TERM late_type(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifResourceTypeInit init = { .members = 0 };
	ErlNifResourceFlags tried = 77;
	void *type = enif_init_resource_type(env, "late", &init, ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, &tried);

	(void)argc;
	(void)argv;
	return enif_make_tuple2(env, enif_make_int(env, type != NULL), enif_make_int(env, (int)tried));
}

static ERL_NIF_TERM number_of(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	void *r, *other;
	int called = -1, missed;

	(void)argc;
	if (!enif_get_resource(env, argv[0], told_type, &r))
		return enif_make_badarg(env);
	missed = enif_dynamic_resource_call(env, atom(env, "nif_life"), atom(env, "told"), argv[0], &called);
	return enif_make_tuple4(env, enif_make_int(env, ((struct told *)r)->number), enif_make_int(env, called),
				enif_make_int(env, missed),
				enif_make_int(env, enif_get_resource(env, argv[0], plain_type, &other)));
}

/* A binary whose bytes are those of a resource. */
static ERL_NIF_TERM bytes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct told *r;
	void *obj;
	ERL_NIF_TERM t;

	(void)argc;
	if (!enif_get_resource(env, argv[0], told_type, &obj))
		return enif_make_badarg(env);
	r = obj;
	t = enif_make_resource_binary(env, r, &r->number, sizeof(r->number));
	return enif_get_resource(env, t, told_type, &obj) && obj == r ? t : enif_make_badarg(env);
}

static ERL_NIF_TERM monitor(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	void *obj;
	ErlNifPid pid;
	ErlNifMonitor m;
	int result;

	(void)argc;
	if (!enif_get_local_pid(env, argv[1], &pid))
		return enif_make_badarg(env);
	if (!enif_get_resource(env, argv[0], told_type, &obj)) {
		obj = enif_alloc_resource(plain_type, 1);
		result = enif_monitor_process(env, obj, &pid, &m);
		enif_release_resource(obj);
		return enif_make_int(env, result < 0 ? -1 : result);
	}
	return enif_make_int(env, enif_monitor_process(env, obj, &pid, &((struct told *)obj)->monitor));
}

static ERL_NIF_TERM demonitor(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	void *obj;
	struct told *r;
	int first;

	(void)argc;
	if (!enif_get_resource(env, argv[0], told_type, &obj))
		return enif_make_badarg(env);
	r = obj;
	first = enif_demonitor_process(env, r, &r->monitor);
	return enif_make_tuple3(env, enif_make_int(env, first),
				enif_make_int(env, enif_demonitor_process(env, r, &r->monitor) != 0),
				enif_make_int(env, enif_is_ref(env, enif_make_monitor_term(env, &r->monitor))));
}

/* ---- messages */

/* Sends T twice from an environment of its own, and once from the caller's. */
static ERL_NIF_TERM send_thrice(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifEnv *message = enif_alloc_env();
	ErlNifPid pid;
	int sent = 0;

	(void)argc;
	if (!enif_get_local_pid(env, argv[0], &pid))
		return enif_make_badarg(env);
	sent += enif_send(env, &pid, message, enif_make_copy(message, argv[1]));
	enif_clear_env(message);
	sent += enif_send(env, &pid, message,
			  enif_make_tuple2(message, atom(message, "again"), enif_make_copy(message, argv[1])));
	enif_clear_env(message);
	enif_free_env(message);
	sent += enif_send(env, &pid, NULL, argv[1]);
	return enif_make_int(env, sent);
}

/* The same on dirty schedulers: is it a process that sends, whoever traces it? */
static ERL_NIF_TERM send_dirty(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifPid pid;

	(void)argc;
	if (!enif_get_local_pid(env, argv[0], &pid))
		return enif_make_badarg(env);
	return enif_make_int(env, enif_send(env, &pid, NULL, argv[1]));
}

/* Sends {alive, self()}, waits for the end of its process, and sends what enif_send returns in its name from
 * elsewhere. */
static ERL_NIF_TERM send_dead(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifEnv *other = enif_alloc_env();
	ErlNifPid pid, self;
	int sent;

	(void)argc;
	if (!enif_get_local_pid(env, argv[0], &pid))
		return enif_make_badarg(env);
	enif_self(env, &self);
	enif_send(env, &pid, NULL, enif_make_tuple2(env, atom(env, "alive"), enif_make_pid(env, &self)));
	while (enif_is_current_process_alive(env))
		usleep(1000);
	sent = enif_send(env, &pid, NULL, atom(env, "never"));
	enif_send(NULL, &pid, other, enif_make_tuple2(other, atom(other, "dead"), enif_make_int(other, sent)));
	enif_free_env(other);
	return argv[0];
}

static ERL_NIF_TERM command(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifPort port;

	(void)argc;
	if (!enif_get_local_port(env, argv[0], &port))
		return enif_make_badarg(env);
	return enif_make_int(env, enif_port_command(env, &port, NULL, argv[1]));
}

/* How many of so many keys at a time have each its value of this thread? */
static ERL_NIF_TERM keys(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	enum { MANY = 3000 };
	static ErlNifTSDKey made[MANY];
	int kept = 0;

	(void)argc;
	(void)argv;
	for (int i = 0; i < MANY; i++)
		if (enif_tsd_key_create("key", &made[i]) != 0)
			return enif_make_badarg(env);
	for (int i = 0; i < MANY; i++)
		enif_tsd_set(made[i], &made[i]);
	for (int i = 0; i < MANY; i++) {
		kept += enif_tsd_get(made[i]) == &made[i];
		enif_tsd_set(made[i], NULL);
		enif_tsd_key_destroy(made[i]);
	}
	return enif_make_int(env, kept);
}

struct job {
	ErlNifPid to;
	ErlNifEnv *env;
	ERL_NIF_TERM term;
	ErlNifTid creator;
	ErlNifMutex *mutex;
	ErlNifCond *cond;
	ErlNifRWLock *rwlock;
	ErlNifTSDKey key;
	int seen, value;
};

static void *run_job(void *arg)
{
	struct job *j = arg;

	enif_tsd_set(j->key, &j->value);
	enif_rwlock_rwlock(j->rwlock);
	j->value = enif_equal_tids(j->creator, enif_thread_self()) + (enif_thread_type() == ERL_NIF_THR_UNDEFINED ? 10 : 0);
	enif_rwlock_rwunlock(j->rwlock);
	enif_send(NULL, &j->to, j->env, j->term);
	enif_mutex_lock(j->mutex);
	j->seen = enif_tsd_get(j->key) == &j->value && strcmp(enif_thread_name(enif_thread_self()), "job") == 0;
	enif_cond_signal(j->cond);
	enif_mutex_unlock(j->mutex);
	return &j->seen;
}

/* A thread sends T. */
static ERL_NIF_TERM thread_sends(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct job j = { .env = enif_alloc_env(), .mutex = enif_mutex_create("mutex"), .cond = enif_cond_create("cond"),
			 .rwlock = enif_rwlock_create("rwlock"), .creator = enif_thread_self() };
	ErlNifThreadOpts *options = enif_thread_opts_create("options");
	void *result = NULL;
	int names, tries, none;
	ErlNifTid tid;

	(void)argc;
	if (!enif_get_local_pid(env, argv[0], &j.to) || enif_tsd_key_create("key", &j.key) != 0)
		return enif_make_badarg(env);
	j.term = enif_make_copy(j.env, argv[1]);
	names = strcmp(enif_mutex_name(j.mutex), "mutex") == 0 && strcmp(enif_cond_name(j.cond), "cond") == 0 &&
		strcmp(enif_rwlock_name(j.rwlock), "rwlock") == 0;
	options->suggested_stack_size = 128;
	if (enif_thread_create("job", &tid, run_job, &j, options) != 0)
		return enif_make_badarg(env);
	enif_mutex_lock(j.mutex);
	while (!j.seen)
		enif_cond_wait(j.cond, j.mutex);
	enif_mutex_unlock(j.mutex);
	enif_thread_join(tid, &result);
	tries = enif_mutex_trylock(j.mutex) == 0 && enif_rwlock_tryrlock(j.rwlock) == 0 &&
		enif_rwlock_tryrwlock(j.rwlock) != 0;
	enif_rwlock_runlock(j.rwlock);
	enif_mutex_unlock(j.mutex);
	none = enif_tsd_get(j.key) == NULL;
	enif_tsd_key_destroy(j.key);
	enif_thread_opts_destroy(options);
	enif_rwlock_destroy(j.rwlock);
	enif_cond_destroy(j.cond);
	enif_mutex_destroy(j.mutex);
	enif_free_env(j.env);
	return enif_make_list(env, 5, enif_make_int(env, j.value), enif_make_int(env, result == &j.seen),
			      enif_make_int(env, names),
			      enif_make_int(env, tries), enif_make_int(env, none));
}

static ERL_NIF_TERM known(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifPid self, found, none;
	ErlNifPort port;
	char value[64];
	size_t room = sizeof(value);
	int set = enif_getenv("NIF_LIFE", value, &room);

	(void)argc;
	enif_self(env, &self);
	enif_set_pid_undefined(&none);
	return enif_make_list(env, 7, enif_make_int(env, enif_whereis_pid(env, argv[0], &found)),
			      enif_make_int(env, enif_whereis_pid(env, argv[1], &found)),
			      enif_make_int(env, enif_whereis_port(env, argv[0], &port)),
			      enif_make_int(env, enif_is_current_process_alive(env)),
			      enif_make_int(env, enif_is_pid_undefined(&none) && !enif_is_pid_undefined(&self)),
			      enif_make_int(env, enif_thread_type()),
			      set == 0 ? enif_make_string(env, value, ERL_NIF_LATIN1) : enif_make_int(env, set));
}

static ERL_NIF_TERM times(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifTime a = enif_monotonic_time(ERL_NIF_NSEC), b = enif_monotonic_time(ERL_NIF_NSEC);
	ERL_NIF_TERM one = enif_make_unique_integer(env, ERL_NIF_UNIQUE_MONOTONIC),
		two = enif_make_unique_integer(env, ERL_NIF_UNIQUE_MONOTONIC);
	ErlNifSInt64 positive;

	(void)argc;
	(void)argv;
	return enif_make_list(env, 6, enif_make_int(env, b >= a), enif_make_int(env, enif_compare(one, two) < 0),
			      enif_make_int(env, enif_get_int64(env, enif_make_unique_integer(env, ERL_NIF_UNIQUE_POSITIVE), &positive) && positive > 0),
			      enif_make_int64(env, enif_convert_time_unit(-1500, ERL_NIF_MSEC, ERL_NIF_SEC)),
			      enif_make_int64(env, enif_time_offset(ERL_NIF_SEC)), enif_now_time(env));
}

/* ---- dirty, and functions in place of others */

static ERL_NIF_TERM dirty(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifPid self;
	ERL_NIF_TERM list = enif_make_list(env, 0), binary;
	int i;

	(void)argc;
	if (enif_is_atom(env, argv[0]))
		return enif_raise_exception(env, argv[0]);
	for (i = 0; i < 1000; i++) {
		memset(enif_make_new_binary(env, (size_t)i, &binary), i, (size_t)i);
		list = enif_make_list_cell(env, binary, list);
	}
	enif_self(env, &self);
	enif_send(env, &self, NULL, enif_make_tuple2(env, atom(env, "from_dirty"), argv[0]));
	return enif_make_tuple4(env, enif_make_int(env, enif_thread_type()), argv[0], list,
				enif_make_int(env, enif_is_current_process_alive(env)));
}

/* count(N, Sum): N + ... + 1, in as many calls; each is dirty by turns. */
static ERL_NIF_TERM count(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	static const int flags[] = { 0, ERL_NIF_DIRTY_JOB_CPU_BOUND, ERL_NIF_DIRTY_JOB_IO_BOUND };
	ERL_NIF_TERM next[2];
	ERL_NIF_TERM later;
	int n, sum;

	(void)argc;
	if (!enif_get_int(env, argv[0], &n) || !enif_get_int(env, enif_is_tuple(env, argv[1]) ? argv[0] : argv[1], &sum))
		return enif_make_badarg(env);
	if (n == 0)
		return enif_make_tuple2(env, atom(env, "sum"), argv[1]);
	next[0] = enif_make_int(env, n - 1);
	next[1] = enif_make_int(env, sum + n);
	later = enif_schedule_nif(env, "count", flags[n % 3], count, 2, next);
	return enif_is_exception(env, later) || enif_has_pending_exception(env, NULL) ? atom(env, "exception") : later;
}

/* fail_later([Flags], Who): as many further calls, each with such flags; the last fails. */
static ERL_NIF_TERM fail_later(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM flags, next[3] = { 0, atom(env, "other"), argv[argc - 1] };
	int n;

	enif_consume_timeslice(env, 100);
	if (!enif_get_list_cell(env, argv[0], &flags, &next[0]) || !enif_get_int(env, flags, &n))
		return enif_make_badarg(env);
	return enif_schedule_nif(env, "fail_later_on", n, fail_later, 3, next);
}

static ERL_NIF_TERM slices(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	int n = 0;

	(void)argc;
	(void)argv;
	while (!enif_consume_timeslice(env, 10))
		n++;
	return enif_make_int(env, n > 0 && n <= 10);
}

/* ---- descriptors: a pipe that is waited for */

static ERL_NIF_TERM open_pipe(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct told *r;
	void *obj;

	(void)argc;
	if (!enif_get_resource(env, argv[0], told_type, &obj))
		return enif_make_badarg(env);
	r = obj;
	return enif_make_int(env, pipe(r->fds));
}

/* The second resource has the first one's pipe, too. */
static ERL_NIF_TERM share_pipe(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	void *from, *to;

	(void)argc;
	if (!enif_get_resource(env, argv[0], told_type, &from) || !enif_get_resource(env, argv[1], told_type, &to))
		return enif_make_badarg(env);
	memcpy(((struct told *)to)->fds, ((struct told *)from)->fds, sizeof(((struct told *)to)->fds));
	return enif_make_int(env, ((struct told *)to)->fds[0]);
}

static ERL_NIF_TERM select_pipe(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct told *r;
	void *obj;
	char what[16];
	int result;

	(void)argc;
	if (!enif_get_resource(env, argv[0], told_type, &obj) ||
	    !enif_get_atom(env, argv[1], what, sizeof(what), ERL_NIF_LATIN1))
		return enif_make_badarg(env);
	r = obj;
	if (strcmp(what, "read") == 0)
		result = enif_select(env, r->fds[0], ERL_NIF_SELECT_READ, r, NULL, argv[2]);
	else if (strcmp(what, "write") == 0)
		result = enif_select(env, r->fds[1], ERL_NIF_SELECT_WRITE, r, NULL, argv[2]);
	else if (strcmp(what, "custom") == 0)
		result = enif_select_read(env, r->fds[0], r, NULL, argv[2], NULL);
	else if (strcmp(what, "cancel") == 0)
		result = enif_select(env, r->fds[0], ERL_NIF_SELECT_READ | ERL_NIF_SELECT_CANCEL, r, NULL, argv[2]);
	else if (strcmp(what, "stop") == 0)
		result = enif_select(env, r->fds[0], ERL_NIF_SELECT_STOP, r, NULL, argv[2]) > 0;
	else if (strcmp(what, "stop_write") == 0)
		result = enif_select(env, r->fds[1], ERL_NIF_SELECT_STOP, r, NULL, argv[2]) > 0;
	else if (strcmp(what, "error") == 0)
		result = enif_select(env, r->fds[1], ERL_NIF_SELECT_ERROR, r, NULL, argv[2]);
	else if (strcmp(what, "custom_error") == 0)
		result = enif_select_error(env, r->fds[1], r, NULL, argv[2], NULL);
	else if (strcmp(what, "cancel_error") == 0)
		result = enif_select(env, r->fds[1], ERL_NIF_SELECT_ERROR | ERL_NIF_SELECT_CANCEL, r, NULL, argv[2]);
	else
		result = enif_select(env, -1, ERL_NIF_SELECT_READ, r, NULL, argv[2]) < 0;
	return enif_make_int(env, result);
}

static ERL_NIF_TERM use_pipe(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct told *r;
	void *obj;
	char c = 'x';

	(void)argc;
	if (!enif_get_resource(env, argv[0], told_type, &obj))
		return enif_make_badarg(env);
	r = obj;
	if (enif_is_identical(argv[1], atom(env, "close_read"))) {
		int closed = close(r->fds[0]);

		r->fds[0] = -1;
		return enif_make_int(env, closed);
	}
	return enif_make_int(env, (int)(enif_is_identical(argv[1], atom(env, "put")) ? write(r->fds[1], &c, 1) : read(r->fds[0], &c, 1)));
}

/* ---- queues: all that a list of binaries holds goes through one; {Size, Bytes taken by and by, Rest of the list,
 * Head} */
static ERL_NIF_TERM queued(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifIOQueue *q = enif_ioq_create(ERL_NIF_IOQ_NORMAL);
	ErlNifIOVec small, *v = &small, *own = NULL;
	ERL_NIF_TERM rest, rest2, bytes, head = argv[0];
	ErlNifBinary b;
	unsigned char *to;
	size_t size, left, head_size = 0;
	int n, has_head;
	SysIOVec *parts;

	(void)argc;
	if (!enif_inspect_iovec(env, 1000, argv[0], &rest, &v) || !enif_inspect_iovec(NULL, 20, argv[0], &rest2, &own))
		return enif_make_badarg(env);
	enif_ioq_enqv(q, v, 1);
	enif_ioq_enqv(q, own, 0);
	enif_free_iovec(own);
	enif_alloc_binary(3, &b);
	memcpy(b.data, "xyz", 3);
	enif_ioq_enq_binary(q, &b, 1);
	size = enif_ioq_size(q);
	has_head = enif_ioq_peek_head(env, q, &head_size, &head);
	to = enif_make_new_binary(env, size, &bytes);
	for (left = size; left > 0;) {
		size_t part;

		parts = enif_ioq_peek(q, &n);
		part = parts[0].iov_len > 7 ? 7 : parts[0].iov_len;
		memcpy(to, parts[0].iov_base, part);
		to += part;
		if (!enif_ioq_deq(q, part, &left))
			return enif_make_badarg(env);
	}
	n = enif_ioq_deq(q, 1, &left);
	enif_ioq_destroy(q);
	return enif_make_tuple7(env, enif_make_uint64(env, size), bytes, rest, rest2, enif_make_int(env, has_head),
				head, enif_make_int(env, n));
}

static ErlNifFunc functions[] = {
	{ "make_told", 1, make_told, 0 }, { "number_of", 1, number_of, 0 }, { "late_type", 0, late_type, 0 }, { "bytes", 1, bytes, 0 },
	{ "monitor", 2, monitor, 0 },
	{ "demonitor", 1, demonitor, 0 }, { "send_thrice", 2, send_thrice, 0 }, { "thread_sends", 2, thread_sends, 0 },
	{ "known", 2, known, 0 },
	{ "send_dirty", 2, send_dirty, ERL_NIF_DIRTY_JOB_CPU_BOUND }, { "send_dead", 1, send_dead, ERL_NIF_DIRTY_JOB_IO_BOUND },
	{ "command", 2, command, 0 }, { "command_dirty", 2, command, ERL_NIF_DIRTY_JOB_IO_BOUND }, { "keys", 0, keys, 0 },
	{ "times", 0, times, 0 }, { "dirty_cpu", 1, dirty, ERL_NIF_DIRTY_JOB_CPU_BOUND },
	{ "dirty_io", 1, dirty, ERL_NIF_DIRTY_JOB_IO_BOUND },
	{ "fail_later", 2, fail_later, 0 },
	{ "count", 2, count, 0 }, { "slices", 0, slices, 0 }, { "open_pipe", 1, open_pipe, 0 },
	{ "share_pipe", 2, share_pipe, 0 },
	{ "select_pipe", 3, select_pipe, 0 },
	{ "use_pipe", 2, use_pipe, 0 }, { "queued", 1, queued, 0 },
};

ERL_NIF_INIT(nif_life, functions, load, NULL, NULL, NULL)
