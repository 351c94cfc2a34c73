/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ports.
 * Invariant: a port is in it from its opening until PORT_CLOSED; the table and each finder hold one reference. It is
 * changed under its lock, and read without it (proc/progress.h): who finds a port there takes a reference, or finds
 * that the last one is gone. Its memory stays until nobody looks any more. */
#include "io/port_table.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "layout.h"

/* A look-up reads a cache line of each port of a chain; with as many buckets as a large server has ports, chains have
 * about one. */
#define TABLE_BITS 16
#define TABLE_BUCKETS (1 << TABLE_BITS)

static struct {
	struct lock lock;
	_Atomic size_t count;                /* changed under the lock; those being opened are counted */
	size_t limit;                        /* lock */
	atomic_uint_fast64_t next_number;
	atomic_uint_fast64_t input_bytes, output_bytes; /* of all ports that ever were */
	_Atomic(struct port *) buckets[TABLE_BUCKETS]; /* changed under the lock */
} table;

void port_init(void)
{
	lock_init(&table.lock, LOCK_port_table);
	table.limit = PORT_LIMIT_DEFAULT;
}

void port_io_bytes(uint64_t *in, uint64_t *out)
{
	*in = atomic_load_explicit(&table.input_bytes, memory_order_relaxed);
	*out = atomic_load_explicit(&table.output_bytes, memory_order_relaxed);
}

void port_count_input(struct port *port, size_t n)
{
	port->input_bytes += n;
	atomic_fetch_add_explicit(&table.input_bytes, n, memory_order_relaxed);
}

void port_table_count_output(size_t n)
{
	atomic_fetch_add_explicit(&table.output_bytes, n, memory_order_relaxed);
}

Term port_new_id(void)
{
	return term_from_port(atomic_fetch_add(&table.next_number, 1));
}

uint64_t port_next_number(void)
{
	return atomic_load(&table.next_number);
}

bool port_pass_over(uint64_t number)
{
	uint64_t next = atomic_load(&table.next_number);

	if (number >= PORT_NUMBER_LIMIT - 1)
		return false;
	while (next <= number && !atomic_compare_exchange_weak(&table.next_number, &next, number + 1))
		;
	return true;
}

static _Atomic(struct port *) *bucket_of(Term id)
{
	return &table.buckets[hash_word(id) % TABLE_BUCKETS];
}

static struct port *next_of(const _Atomic(struct port *) *at)
{
	return atomic_load_explicit(at, memory_order_acquire);
}

/* A reference to a port that may have lost its last one. Fails: false. */
static bool ref_living(struct port *port)
{
	unsigned refs = atomic_load_explicit(&port->refs, memory_order_relaxed);

	while (refs != 0)
		if (atomic_compare_exchange_weak_explicit(&port->refs, &refs, refs + 1, memory_order_relaxed,
							  memory_order_relaxed))
			return true;
	return false;
}

/* In a look, or with the lock. */
static struct port *find_living(Term id)
{
	struct port *port = next_of(bucket_of(id));

	while (port != NULL && port->id != id)
		port = next_of(&port->next);
	return port != NULL && ref_living(port) ? port : NULL;
}

struct port *port_find(Term id)
{
	struct port *port;

	if (likely(progress_look())) {
		port = find_living(id);
		progress_look_end();
		return port;
	}
	lock_acquire(&table.lock);
	port = find_living(id);
	lock_release(&table.lock);
	return port;
}

void port_set_limit(size_t limit)
{
	table.limit = limit;
}

size_t port_limit(void)
{
	return table.limit;
}

bool port_table_take_place(void)
{
	bool ok;

	lock_acquire(&table.lock);
	ok = table.count < table.limit;
	table.count += ok;
	lock_release(&table.lock);
	return ok;
}

void port_table_enter(struct port *port)
{
	_Atomic(struct port *) *head = bucket_of(port->id);

	lock_acquire(&table.lock);
	atomic_store_explicit(&port->next, next_of(head), memory_order_relaxed);
	atomic_store_explicit(head, port, memory_order_release);
	lock_release(&table.lock);
}

/* Who stands at it goes on from it: it keeps its `next`. */
void port_table_leave(struct port *port)
{
	_Atomic(struct port *) *at = bucket_of(port->id);

	lock_acquire(&table.lock);
	while (next_of(at) != port)
		at = &next_of(at)->next;
	atomic_store_explicit(at, next_of(&port->next), memory_order_release);
	table.count--;
	lock_release(&table.lock);
}

void port_each(void (*see)(const struct port *port, void *arg), void *arg)
{
	for (size_t i = 0; i < TABLE_BUCKETS; i++)
		for (const struct port *port = next_of(&table.buckets[i]); port != NULL; port = next_of(&port->next))
			see(port, arg);
}

size_t port_count(void)
{
	return atomic_load_explicit(&table.count, memory_order_relaxed);
}

Term port_list(struct heap *h)
{
	Term list = NIL;

	lock_acquire(&table.lock);
	for (int b = 0; b < TABLE_BUCKETS; b++) {
		for (struct port *port = next_of(&table.buckets[b]); port != NULL; port = next_of(&port->next))
			list = heap_cons(h, port->id, list);
	}
	lock_release(&table.lock);
	return list;
}

struct port **port_table_all(size_t *n)
{
	struct port **ports;

	lock_acquire(&table.lock);
	ports = mem_alloc((table.count + 1) * sizeof(*ports));
	*n = 0;
	for (int b = 0; b < TABLE_BUCKETS; b++) {
		for (struct port *port = next_of(&table.buckets[b]); port != NULL; port = next_of(&port->next)) {
			port_ref(port);
			ports[(*n)++] = port;
		}
	}
	lock_release(&table.lock);
	return ports;
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_PORTS LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_ports, table);
