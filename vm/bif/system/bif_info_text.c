/* SPDX-License-Identifier: Apache-2.0 */
/* system_info(info | procs | loaded | dist): sections of a crash dump, made while the VM goes on. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/refused.h"
#include "bif/system/bif_info.h"
#include "code/module.h"
#include "data/binary.h"
#include "data/print.h"
#include "dump/crash_dump.h"
#include "dump/dump_out.h"
#include "dump/dump_process.h"
#include "proc/process_walk.h"
#include "proc/sched.h"
#include "term/node.h"

enum { WRITTEN_AT_ONCE = 1 << 8 };

static void see_process(Process *p, void *arg)
{
	(void)arg;
	dump_process_summary(p);
}

/* Each process as it was at a moment of its own. */
static void write_processes(void)
{
	process_each_in_parts(WRITTEN_AT_ONCE, see_process, NULL);
}

/* Fails: below 0. */
static int open_nameless(void)
{
	int fd = memfd_create("system_info", MFD_CLOEXEC);

	return fd < 0 && call_is_refused(errno) ? open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : fd;
}

/* A binary; no memory for it is a system limit. */
static Term make_text(Process *p, void (*write)(void))
{
	int fd = open_nameless();
	struct stat file;
	void *bytes = MAP_FAILED;
	Term result;

	if (fd < 0)
		return exc_system_limit(p);
	dump_open_fd(fd);
	write();
	if (dump_close() && fstat(fd, &file) == 0 && file.st_size > 0)
		bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
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

Term info_info(Process *p) { return make_text(p, crash_dump_memory); }
Term info_procs(Process *p) { return make_text(p, write_processes); }
Term info_loaded(Process *p) { return make_text(p, write_loaded); }
Term info_dist(Process *p) { return make_text(p, crash_dump_nodes_in_parts); }
