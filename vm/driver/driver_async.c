/* SPDX-License-Identifier: Apache-2.0 */
/* driver_async: work of drivers on the async pool. Jobs of one key run one at a time, in the order they came.
 * Invariant: a lane with jobs has exactly one job in the pool. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"
#include "driver/driver_port.h"
#include "io/async.h"
#include "io/io_probe.h"

enum { LANES = 64 };

struct driver_job {
	struct async_job pool;   /* of one without a key */
	struct port_task done;
	struct driver_job *next;
	struct driver_port *dp;  /* its port is counted */
	void (*run)(void *data);
	void (*drop)(void *data);
	void *data;
};

static struct lane {
	struct async_job pool;
	struct lock lock;
	struct driver_job *first, **last; /* lock */
} lanes[LANES];

static void finish(struct port *port, struct port_task *task)
{
	struct driver_job *job = (struct driver_job *)((char *)task - offsetof(struct driver_job, done));
	struct driver_port *dp = job->dp;
	const struct driver_entry *e = &dp->library->entry;
	struct io_callback running;

	if (port->state != PORT_CLOSED && e->ready_async != NULL) {
		port_enter(port, SMALL(0));
		if (PROBE_ON(driver__ready_async))
			probe_driver__ready_async(port, port->owner);
		driver_enter(dp);
		running = io_callback_begin(port, dp->library->name, "ready_async");
		e->ready_async(dp->data, job->data);
		io_callback_end(&running);
		driver_leave(dp);
		port_leave(port, SMALL(0));
	} else if (job->drop != NULL) {
		job->drop(job->data);
	}
	mem_free(job);
}

/* It has run. */
static void hand_back(struct driver_job *job)
{
	struct port *port = job->dp->port;

	job->done.run = finish;
	port_submit(port, &job->done);
	port_unref(port);
}

static void run_alone(struct async_job *pool)
{
	struct driver_job *job = (struct driver_job *)pool;

	job->run(job->data);
	hand_back(job);
}

static void run_lane(struct async_job *pool)
{
	struct lane *lane = (struct lane *)pool;
	struct driver_job *job;
	bool more;

	lock_acquire(&lane->lock);
	job = lane->first;
	lock_release(&lane->lock);
	lane->pool.port = job->dp->port->id;
	job->run(job->data);
	lock_acquire(&lane->lock);
	lane->first = job->next;
	more = lane->first != NULL;
	if (!more)
		lane->last = &lane->first;
	lock_release(&lane->lock);
	hand_back(job);
	if (more)
		async_submit(&lane->pool);
}

void driver_async_init(void)
{
	for (int i = 0; i < LANES; i++) {
		lanes[i].pool.run = run_lane;
		lanes[i].last = &lanes[i].first;
		lock_init(&lanes[i].lock, LOCK_driver_lane);
	}
}

static void submit(struct lane *lane, struct driver_job *job)
{
	bool first;

	lock_acquire(&lane->lock);
	first = lane->first == NULL;
	*lane->last = job;
	lane->last = &job->next;
	lock_release(&lane->lock);
	if (!first)
		return;
	lane->pool.port = job->dp->port->id;
	async_submit(&lane->pool);
}

/* key NULL: it waits for no other. Returns a number of the job; -1: there is no such port. */
long driver_async(struct driver_port *dp, const unsigned *key, void (*run)(void *data), void *data,
		  void (*drop)(void *data))
{
	static atomic_long numbers;
	struct driver_job *job;

	if (!driver_port_lives(dp))
		return -1;
	job = mem_zalloc(sizeof(*job));
	*job = (struct driver_job){ .pool = { .run = run_alone, .port = dp->port->id }, .dp = dp, .run = run,
				    .drop = drop, .data = data };
	port_ref(dp->port);
	if (key == NULL)
		async_submit(&job->pool);
	else
		submit(&lanes[*key % LANES], job);
	return atomic_fetch_add(&numbers, 1) + 1;
}

unsigned driver_async_port_key(struct driver_port *dp)
{
	return (unsigned)hash_word(dp->port->id);
}
