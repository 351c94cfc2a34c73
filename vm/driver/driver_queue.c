/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries, I/O vectors and the queue of a port; the lock that lets a driver's other threads use the queue. */
#include <string.h>

#include "base/alloc.h"
#include "driver/driver_port.h"

/* ---- binaries */

struct driver_binary *driver_alloc_binary(size_t bytes)
{
	struct binary *b = binary_new(bytes);

	return b != NULL ? driver_binary_of(b) : NULL;
}

void driver_free_binary(struct driver_binary *b)
{
	if (b != NULL)
		binary_unref(driver_binary_counted(b));
}

/* Fails: NULL; b is as it was. One that others have, too, cannot move. */
struct driver_binary *driver_realloc_binary(struct driver_binary *b, size_t bytes)
{
	struct binary *resized;

	if (b == NULL)
		return driver_alloc_binary(bytes);
	if (binary_refs(driver_binary_counted(b)) != 1)
		return NULL;
	resized = binary_resize(driver_binary_counted(b), bytes);
	return resized != NULL ? driver_binary_of(resized) : NULL;
}

long driver_binary_get_refc(struct driver_binary *b)
{
	return (long)binary_refs(driver_binary_counted(b));
}

long driver_binary_inc_refc(struct driver_binary *b)
{
	binary_ref(driver_binary_counted(b));
	return driver_binary_get_refc(b);
}

long driver_binary_dec_refc(struct driver_binary *b)
{
	return (long)atomic_fetch_sub(&driver_binary_counted(b)->refs, 1) - 1;
}

void *driver_alloc(size_t bytes)
{
	return mem_try_alloc(bytes);
}

void *driver_realloc(void *at, size_t bytes)
{
	return mem_try_realloc(at, bytes);
}

void driver_free(void *at)
{
	mem_free(at);
}

/* ---- vectors */

/* The part as a binary of its own, where a driver would not find it in the binary that it is of. */
static void own_part(struct driver_iovec *v, int i, struct binary *b)
{
	struct binary *own;

	if (!(atomic_load(&b->refs) & BINARY_OF_RESOURCE)) {
		binary_ref(b);
		v->binaries[i] = driver_binary_of(b);
		return;
	}
	own = binary_new(v->parts[i].iov_len);
	ENSURE(own != NULL);
	memcpy(own->data, v->parts[i].iov_base, v->parts[i].iov_len);
	v->parts[i].iov_base = own->data;
	v->binaries[i] = driver_binary_of(own);
}

void driver_iovec_init(struct driver_iovec *v, const struct byte_queue *q, size_t spare)
{
	size_t n = byte_queue_count(q) + spare;
	struct binary **binaries = mem_zalloc((n + 1) * sizeof(*binaries));

	v->count = (int)n;
	v->size_bytes = q->size_bytes;
	v->parts = mem_zalloc((n + 1) * sizeof(*v->parts));
	v->binaries = mem_zalloc((n + 1) * sizeof(*v->binaries));
	byte_queue_peek_binaries(q, v->parts + spare, binaries, (int)(n - spare));
	for (size_t i = spare; i < n; i++)
		own_part(v, (int)i, binaries[i - spare]);
	mem_free(binaries);
}

void driver_iovec_free(struct driver_iovec *v)
{
	for (int i = 0; i < v->count; i++)
		driver_free_binary(v->binaries[i]);
	mem_free(v->parts);
	mem_free(v->binaries);
}

/* At most n bytes to `to`; returns how many. */
size_t driver_vec_to_buf(const struct driver_iovec *v, char *to, size_t n)
{
	size_t left = n;

	for (int i = 0; i < v->count && left > 0; i++) {
		size_t part = v->parts[i].iov_len < left ? v->parts[i].iov_len : left;

		if (part > 0)
			memcpy(to, v->parts[i].iov_base, part);
		to += part;
		left -= part;
	}
	return n - left;
}

/* ---- the port data lock */

struct driver_lock {
	struct library_mutex *mutex;
	atomic_long refs;    /* the port's, each holder's, and those that the driver takes */
};

static void drop_lock(struct driver_lock *l)
{
	if (atomic_fetch_sub(&l->refs, 1) != 1)
		return;
	library_mutex_free(l->mutex);
	mem_free(l);
}

/* Fails: NULL when the port has one. */
struct driver_lock *driver_pdl_create(struct driver_port *dp)
{
	struct driver_lock *l;

	if (!driver_port_lives(dp) || dp->data_lock != NULL)
		return NULL;
	l = mem_zalloc(sizeof(*l));
	l->mutex = library_mutex_new("port_data_lock");
	atomic_init(&l->refs, 1);
	atomic_store(&dp->data_lock, l);
	return l;
}

void driver_pdl_lock(struct driver_lock *l)
{
	atomic_fetch_add(&l->refs, 1);
	library_mutex_lock(l->mutex);
}

void driver_pdl_unlock(struct driver_lock *l)
{
	library_mutex_unlock(l->mutex);
	drop_lock(l);
}

long driver_pdl_get_refc(const struct driver_lock *l)
{
	return atomic_load(&l->refs);
}

long driver_pdl_inc_refc(struct driver_lock *l)
{
	return atomic_fetch_add(&l->refs, 1) + 1;
}

long driver_pdl_dec_refc(struct driver_lock *l)
{
	long left = atomic_load(&l->refs) - 1;

	drop_lock(l);
	return left;
}

/* ---- the queue: port->out. Who uses it holds the port, or its data lock. */

size_t driver_queued(struct port *port)
{
	struct driver_port *dp = port->driver_data;
	struct driver_lock *l = dp != NULL ? atomic_load(&dp->data_lock) : NULL;
	size_t n;

	if (l == NULL || driver_current() == dp)
		return port->out.size_bytes;
	library_mutex_lock(l->mutex);
	n = port->out.size_bytes;
	library_mutex_unlock(l->mutex);
	return n;
}

void driver_free_queue(struct driver_port *dp)
{
	mem_free(dp->peeked);
	if (dp->data_lock != NULL)
		drop_lock(dp->data_lock);
}

size_t driver_sizeq(struct driver_port *dp)
{
	return driver_port_lives(dp) ? dp->port->out.size_bytes : (size_t)-1;
}

/* n bytes of b. Copies what has no binary. Fails: -1, there is no memory. */
static int put_part(struct byte_queue *q, struct driver_binary *b, const void *bytes, size_t n)
{
	if (n == 0)
		return 0;
	if (b == NULL)
		return byte_queue_put(q, bytes, n) ? 0 : -1;
	byte_queue_put_binary(q, driver_binary_counted(b), bytes, n);
	return 0;
}

/* What is behind `skip` bytes. */
static int put_vector(struct byte_queue *q, const struct driver_iovec *v, size_t skip)
{
	for (int i = 0; i < v->count; i++) {
		size_t n = v->parts[i].iov_len, from = skip < n ? skip : n;

		skip -= from;
		if (put_part(q, v->binaries != NULL ? v->binaries[i] : NULL, (uint8_t *)v->parts[i].iov_base + from,
			     n - from) != 0)
			return -1;
	}
	return 0;
}

/* q goes in front of what is queued. */
static int push(struct driver_port *dp, struct byte_queue *q)
{
	byte_queue_move(q, &dp->port->out);
	dp->port->out = *q;
	return 0;
}

int driver_enqv(struct driver_port *dp, const struct driver_iovec *v, size_t skip)
{
	return driver_port_lives(dp) ? put_vector(&dp->port->out, v, skip) : -1;
}

int driver_pushqv(struct driver_port *dp, const struct driver_iovec *v, size_t skip)
{
	struct byte_queue q = { 0 };

	if (!driver_port_lives(dp))
		return -1;
	if (put_vector(&q, v, skip) == 0)
		return push(dp, &q);
	byte_queue_clear(&q);
	return -1;
}

int driver_enq_bin(struct driver_port *dp, struct driver_binary *b, size_t offset, size_t n)
{
	return driver_port_lives(dp) ? put_part(&dp->port->out, b, b->bytes + offset, n) : -1;
}

int driver_enq(struct driver_port *dp, const char *bytes, size_t n)
{
	return driver_port_lives(dp) ? put_part(&dp->port->out, NULL, bytes, n) : -1;
}

int driver_pushq_bin(struct driver_port *dp, struct driver_binary *b, size_t offset, size_t n)
{
	struct byte_queue q = { 0 };

	if (!driver_port_lives(dp))
		return -1;
	put_part(&q, b, b->bytes + offset, n);
	return push(dp, &q);
}

int driver_pushq(struct driver_port *dp, const char *bytes, size_t n)
{
	struct byte_queue q = { 0 };

	if (!driver_port_lives(dp) || put_part(&q, NULL, bytes, n) != 0)
		return -1;
	return push(dp, &q);
}

/* Returns how much is left. */
size_t driver_deq(struct driver_port *dp, size_t n)
{
	if (!driver_port_lives(dp) || n > dp->port->out.size_bytes)
		return (size_t)-1;
	byte_queue_drop(&dp->port->out, n);
	return dp->port->out.size_bytes;
}

/* Valid until the queue changes. */
struct iovec *driver_peekq(struct driver_port *dp, int *count)
{
	size_t n;

	if (!driver_port_lives(dp)) {
		*count = -1;
		return NULL;
	}
	n = byte_queue_count(&dp->port->out);
	if (n > dp->peeked_room) {
		dp->peeked_room = n;
		dp->peeked = mem_realloc(dp->peeked, n * sizeof(*dp->peeked));
	}
	*count = byte_queue_peek(&dp->port->out, dp->peeked, (int)n);
	return *count > 0 ? dp->peeked : NULL;
}

/* The vector's room is the queue's, until that changes; its binaries stand behind its parts. */
size_t driver_peekqv(struct driver_port *dp, struct driver_iovec *v)
{
	struct binary **binaries;
	size_t n, words;

	if (!driver_port_lives(dp))
		return (size_t)-1;
	n = byte_queue_count(&dp->port->out);
	words = n + (n + 1) / 2; /* an iovec is two pointers */
	if (words > dp->peeked_room) {
		dp->peeked_room = words;
		dp->peeked = mem_realloc(dp->peeked, words * sizeof(*dp->peeked));
	}
	binaries = (struct binary **)(dp->peeked + n);
	byte_queue_peek_binaries(&dp->port->out, dp->peeked, binaries, (int)n);
	for (size_t i = 0; i < n; i++)
		binaries[i] = (struct binary *)driver_binary_of(binaries[i]);
	*v = (struct driver_iovec){ (int)n, dp->port->out.size_bytes, dp->peeked, (struct driver_binary **)binaries };
	return v->size_bytes;
}
