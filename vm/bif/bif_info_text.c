/* SPDX-License-Identifier: Apache-2.0 */
/* system_info(info | procs | loaded | dist): sections of a crash dump, made while the VM goes on. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bif/bif_info.h"
#include "code/module.h"
#include "data/binary.h"
#include "data/print.h"
#include "dump/crash_dump.h"
#include "dump/dump_out.h"
#include "dump/dump_process.h"
#include "proc/sched.h"
#include "term/node.h"

enum { WRITTEN_AT_ONCE = 1 << 10 };

struct text {
	int fd;
	void (*write)(void);
	size_t slot;
	bool more, whole;
};

static void write_stopped(void *arg)
{
	struct text *t = arg;

	dump_open_fd(t->fd);
	t->write();
	t->whole = dump_close();
}

static void write_all(struct text *t)
{
	sched_stop_world(write_stopped, t);
}

static void see_process(Process *p, void *arg)
{
	(void)arg;
	dump_process_summary(p);
}

static void write_some_processes(void *arg)
{
	struct text *t = arg;

	dump_open_fd(t->fd);
	t->more = process_each_some(&t->slot, WRITTEN_AT_ONCE, see_process, NULL);
	t->whole &= dump_close();
}

/* Each process as it was at a moment of its own: the world stops for some of them at a time. Between two stops another
 * thread may take over the scheduler, whose other processes would wait for all of it. */
static void write_processes(struct text *t)
{
	t->whole = true;
	sched_lend();
	for (;;) {
		sched_stop_world(write_some_processes, t);
		if (!t->more)
			break;
		sched_let_world_go_on();
	}
	sched_reclaim();
}

/* A binary; no memory for it is a system limit. */
static Term make_text(Process *p, void (*make)(struct text *t), void (*write)(void))
{
	struct text t = { .fd = memfd_create("system_info", MFD_CLOEXEC), .write = write };
	struct stat file;
	void *bytes = MAP_FAILED;
	Term result;

	if (t.fd < 0)
		return exc_system_limit(p);
	make(&t);
	if (t.whole && fstat(t.fd, &file) == 0 && file.st_size > 0)
		bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, t.fd, 0);
	close(t.fd);
	if (bytes == MAP_FAILED)
		return exc_system_limit(p);
	result = binary_put(&p->heap, bytes, (size_t)file.st_size);
	munmap(bytes, (size_t)file.st_size);
	return result;
}

static size_t code_bytes(const struct code_instance *c)
{
	return c != NULL ? c->word_count * sizeof(Inst) : 0;
}

static void sum_module(const struct module *m, void *arg)
{
	size_t *sums = arg;

	sums[0] += code_bytes(atomic_load(&m->current));
	sums[1] += code_bytes(atomic_load(&m->old));
}

static void write_module(const struct module *m, void *arg)
{
	char name[1024];

	(void)arg;
	if (atomic_load(&m->current) == NULL && atomic_load(&m->old) == NULL)
		return;
	print_term_fixed(name, sizeof(name), m->name);
	dump_text(name);
	dump_format(" %zu", code_bytes(atomic_load(&m->current)));
	if (atomic_load(&m->old) != NULL)
		dump_format(" (%zu old)", code_bytes(atomic_load(&m->old)));
	dump_text("\n");
}

static void write_loaded(void)
{
	size_t sums[2] = { 0, 0 };

	module_each(sum_module, sums);
	dump_format("Current code: %zu\nOld code: %zu\n", sums[0], sums[1]);
	module_each(write_module, NULL);
}

Term info_info(Process *p) { return make_text(p, write_all, crash_dump_memory); }
Term info_procs(Process *p) { return make_text(p, write_processes, NULL); }
Term info_loaded(Process *p) { return make_text(p, write_all, write_loaded); }
Term info_dist(Process *p) { return make_text(p, write_all, crash_dump_nodes); }
