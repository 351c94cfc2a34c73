/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on files as jobs of the async pool, and who owns which open file. A process that a signal ends meanwhile
 * drops its hold on the job: the pool ends the operation and frees what came of it.
 * Invariant: a job has two references, the pool's and the caller's; the last one frees it. A file stands in its
 * owner's list until it leaves EFILE_IDLE / EFILE_BUSY for good. */
#include "io/efile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"
#include "data/binary.h"
#include "io/io_probe.h"
#include "io/posix.h"
#include "proc/exc.h"
#include "proc/probe.h"
#include "proc/sched.h"

#define OWNER_BUCKETS 256
#define QUICK_REDS 50 /* about 2 us */

static struct {
	Term port;
	struct lock lock;
	_Atomic(struct efile *) owners[OWNER_BUCKETS]; /* written under the lock */
	atomic_size_t open_count;
	atomic_uint_fast64_t outside_tag;              /* operations that no scheduler entered */
} efile;

static void release_file(struct resource *r)
{
	mem_free(r);
}

const struct resource_type efile_type = { .name = "efile", .release = release_file };

void efile_init(Term port)
{
	efile.port = port;
	lock_init(&efile.lock, LOCK_efile);
}

size_t efile_open_count(void)
{
	return atomic_load(&efile.open_count);
}

/* ---- owners */

static unsigned bucket_of(Term owner)
{
	return hash_word(owner) % OWNER_BUCKETS;
}

static void list_file(struct efile *f)
{
	_Atomic(struct efile *) *head = &efile.owners[bucket_of(f->owner)];
	struct efile *next;

	lock_acquire(&efile.lock);
	next = atomic_load(head);
	atomic_init(&f->next, next);
	if (next != NULL)
		next->prev = &f->next;
	f->prev = head;
	atomic_store(head, f);
	lock_release(&efile.lock);
}

/* efile lock held. */
static void unlist_locked(struct efile *f)
{
	struct efile *next = atomic_load(&f->next);

	if (f->prev == NULL)
		return;
	atomic_store(f->prev, next);
	if (next != NULL)
		next->prev = f->prev;
	f->prev = NULL;
}

static void unlist_file(struct efile *f)
{
	lock_acquire(&efile.lock);
	unlist_locked(f);
	lock_release(&efile.lock);
}

/* ---- states */

bool efile_acquire(struct efile *f)
{
	uint32_t idle = EFILE_IDLE;

	return atomic_compare_exchange_strong(&f->state, &idle, EFILE_BUSY);
}

void efile_release(struct efile *f)
{
	uint32_t busy = EFILE_BUSY;

	if (atomic_compare_exchange_strong(&f->state, &busy, EFILE_IDLE))
		return;
	atomic_store(&f->state, EFILE_CLOSED);
	efile_close_fd(f);
}

bool efile_acquire_close(struct efile *f)
{
	uint32_t idle = EFILE_IDLE;

	if (!atomic_compare_exchange_strong(&f->state, &idle, EFILE_CLOSED))
		return false;
	unlist_file(f);
	return true;
}

struct efile *efile_new(Process *p, int fd, uint32_t modes)
{
	struct efile *f = mem_zalloc(sizeof(*f));

	resource_init(&f->resource, &efile_type);
	atomic_init(&f->state, EFILE_IDLE);
	f->fd = fd;
	f->modes = modes;
	f->owner = p->id;
	atomic_fetch_add(&efile.open_count, 1);
	list_file(f);
	return f;
}

/* The place of a standard descriptor stays taken: the next file must not become standard input or output. */
static int close_file(int fd)
{
	int null_fd = fd <= STDERR_FILENO ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1, result;

	if (null_fd < 0)
		return close(fd);
	result = dup2(null_fd, fd);
	close(null_fd);
	return result;
}

int efile_close_fd(struct efile *f)
{
	int fd = f->fd, error = 0;

	f->fd = -1;
	/* Linux closes the descriptor even when close(2) fails: no second try. */
	if (close_file(fd) < 0)
		error = errno;
	atomic_fetch_sub(&efile.open_count, 1);
	resource_unref(&f->resource);
	return error;
}

/* ---- jobs */

struct efile_job *efile_job_new(enum efile_command command, struct efile *file)
{
	struct efile_job *job = mem_zalloc(sizeof(*job));

	atomic_init(&job->refs, 1);
	atomic_init(&job->done, false);
	job->command = job->told = command;
	job->file = file;
	if (file != NULL)
		resource_ref(&file->resource);
	return job;
}

static void free_job(struct efile_job *job)
{
	/* Nobody claimed the descriptor of an open. */
	if (job->command == EFILE_OPEN && job->done && job->error == 0 && job->result >= 0)
		close((int)job->result);
	byte_queue_clear(&job->bytes);
	if (job->data != NULL)
		binary_unref(job->data);
	while (job->names != NULL) {
		struct efile_name *name = job->names;

		job->names = name->next;
		mem_free(name);
	}
	if (job->file != NULL)
		resource_unref(&job->file->resource);
	if (job->process != NULL)
		process_unref(job->process);
	mem_free(job->s[0]);
	mem_free(job->s[1]);
	mem_free(job->user_tag);
	mem_free(job);
}

static void fire_return(struct efile_job *job)
{
	job->returned = true;
	if (PROBE_ON(efile_drv__return))
		probe_efile_drv__return(job);
}

static void job_unref(struct efile_job *job)
{
	if (atomic_fetch_sub_explicit(&job->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (!job->returned)
		fire_return(job);
	free_job(job);
}

void efile_job_drop(struct efile_job *job)
{
	free_job(job);
}

static void work(struct efile_job *job)
{
	if (PROBE_ON(efile_drv__int_entry))
		probe_efile_drv__int_entry(job);
	efile_run(job);
	if (PROBE_ON(efile_drv__int_return))
		probe_efile_drv__int_return(job);
}

static void run_job(struct async_job *async)
{
	struct efile_job *job = (struct efile_job *)async;
	struct efile *f = job->file;

	work(job);
	if (f != NULL && job->command != EFILE_CLOSE)
		efile_release(f);
	atomic_store_explicit(&job->done, true, memory_order_release);
	if (job->process != NULL)
		process_unblock(job->process);
	job_unref(job);
}

/* The dyntrace tag of p, for the probes. */
static char *copy_user_tag(Term tag)
{
	uint8_t *scratch = NULL;
	const uint8_t *bytes;
	char *text;
	size_t n;

	if (!term_is_bitstring(tag) || !term_is_binary(tag))
		return NULL;
	bytes = binary_bytes(tag, &n, &scratch);
	text = mem_alloc(n + 1);
	memcpy(text, bytes, n);
	text[n] = '\0';
	mem_free(scratch);
	return text;
}

/* file:read_line/1 of a raw file is Erlang code, which reads by this node's native function. Is it that which p
 * runs? */
static bool reads_line(const Process *p)
{
	struct mfa caller;
	const char *name;
	size_t n;

	if (!probe_find_caller(p, &caller) || caller.module != am_prim_file)
		return false;
	name = atom_text(caller.function, &n);
	return strncmp(name, "read_line", strlen("read_line")) == 0;
}

static bool is_watched(void)
{
	return PROBE_ON(efile_drv__entry) || PROBE_ON(efile_drv__int_entry) || PROBE_ON(efile_drv__int_return) ||
	       PROBE_ON(efile_drv__return);
}

static void enter_job(struct efile_job *job, Process *p)
{
	struct sched *s = sched_self();

	if (sched_on_duty()) {
		job->thread = s->id;
		job->tag = ++s->efile_tag;
	} else {
		job->tag = atomic_fetch_add(&efile.outside_tag, 1) + 1;
	}
	if (p != NULL && is_watched()) {
		job->user_tag = copy_user_tag(p->dt_utag);
		if (job->command == EFILE_READ && reads_line(p))
			job->told = EFILE_READ_LINE;
	}
	if (PROBE_ON(efile_drv__entry))
		probe_efile_drv__entry(job, efile.port, p != NULL ? p->id : TERM_NONE);
}

static void queue_job(struct efile_job *job)
{
	job->async.run = run_job;
	job->async.port = efile.port;
	job->async.asker = job->process != NULL ? job->process->id : 0;
	async_submit(&job->async);
}

static void drop_job(Process *p, void *arg)
{
	(void)p;
	job_unref(arg);
}

/* Takes: the caller's reference. */
static Term end_job(Process *p, struct efile_job *job)
{
	Term result;

	fire_return(job);
	result = job->error != 0 ? posix_error_tuple(&p->heap, job->error) : job->reply(p, job);
	job_unref(job);
	return result;
}

static Term resume_job(Process *p, void *arg)
{
	struct efile_job *job = arg;

	if (!atomic_load_explicit(&job->done, memory_order_acquire))
		return exc_wait(p, resume_job, drop_job, job);
	return end_job(p, job);
}

Term efile_submit(Process *p, struct efile_job *job, Term (*reply)(Process *p, struct efile_job *job))
{
	job->reply = reply;
	enter_job(job, p);
	if (efile_is_quick(job)) {
		process_bump(p, QUICK_REDS);
		work(job);
		return end_job(p, job);
	}
	job->process = p;
	process_ref(p);
	atomic_store(&job->refs, 2);
	queue_job(job);
	return exc_wait(p, resume_job, drop_job, job);
}

/* ---- the end of an owner */

/* The owner is gone: nobody waits for this close. Takes: the list's hold on the file. */
static void submit_close(struct efile *f)
{
	struct efile_job *job = efile_job_new(EFILE_CLOSE, f);

	job->i[0] = f->fd;
	job->i[1] = f->modes;
	enter_job(job, NULL);
	queue_job(job);
}

static void close_orphan(struct efile *f)
{
	for (;;) {
		uint32_t state = EFILE_IDLE;

		if (atomic_compare_exchange_strong(&f->state, &state, EFILE_CLOSED)) {
			submit_close(f);
			return;
		}
		if (state != EFILE_BUSY)
			return;
		if (atomic_compare_exchange_strong(&f->state, &state, EFILE_CLOSE_PENDING))
			return;
	}
}

/* The next file of that owner, off its list and counted for the caller; NULL when there is none. */
static struct efile *take_owned(unsigned b, Term owner)
{
	struct efile *f;

	lock_acquire(&efile.lock);
	f = atomic_load(&efile.owners[b]);
	while (f != NULL && f->owner != owner)
		f = atomic_load(&f->next);
	if (f != NULL) {
		unlist_locked(f);
		resource_ref(&f->resource);
	}
	lock_release(&efile.lock);
	return f;
}

void efile_process_exit(Process *p)
{
	unsigned b = bucket_of(p->id);
	struct efile *f;

	if (atomic_load_explicit(&efile.owners[b], memory_order_acquire) == NULL)
		return;
	while ((f = take_owned(b, p->id)) != NULL) {
		close_orphan(f);
		resource_unref(&f->resource);
	}
}
