/* SPDX-License-Identifier: Apache-2.0 */
#include "jit/native_perf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/log.h"
#include "code/opcodes.h"
#include "data/print.h"

enum { NAME_BYTES = 1024, DUMP_MAGIC = 0x4a695444, DUMP_VERSION = 1, DUMP_LOAD = 0, PAGE_BYTES = 4096 };

static struct {
	struct lock lock;
	FILE *map, *dump;    /* NULL: not wanted */
	uint64_t functions;  /* that the dump tells of */
} perf;

/* Of the dump. */
struct dump_header {
	uint32_t magic, version, bytes, machine, pad, pid;
	uint64_t time_ns, flags;
};

struct dump_record {
	uint32_t id, bytes;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t address, code_address, code_bytes, number;
};

/* perf's clock, when it is told to use that one (perf record -k mono). */
static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- files */

static void give_up(FILE **file, const char *what, int error)
{
	log_line("erlvm: cannot write %s of machine code in /tmp: %s: perf has no names", what, strerror(error));
	if (*file != NULL)
		fclose(*file);
	*file = NULL;
}

/* A new file of ours: /tmp is everybody's. */
static FILE *create(const char *form, const char *what)
{
	FILE *file = NULL;
	char path[64];
	int fd;

	snprintf(path, sizeof path, form, (int)getpid());
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 || (file = fdopen(fd, "w")) == NULL)
		give_up(&file, what, errno);
	return file;
}

/* perf finds the file by a mapping of it that can be run. */
static bool begin_dump(FILE *file)
{
	const struct dump_header header = { DUMP_MAGIC, DUMP_VERSION, sizeof header, EM_X86_64, 0, (uint32_t)getpid(),
					    now_ns(), 0 };

	return fwrite(&header, sizeof header, 1, file) == 1 && fflush(file) == 0 &&
	       mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) != MAP_FAILED;
}

void native_perf_init(bool map, bool dump)
{
	lock_init(&perf.lock, LOCK_native_perf);
	if (map)
		perf.map = create("/tmp/perf-%d.map", "the map");
	if (dump)
		perf.dump = create("/tmp/jit-%d.dump", "the dump");
	if (perf.dump != NULL && !begin_dump(perf.dump))
		give_up(&perf.dump, "the dump", errno);
}

/* ---- what is in them */

static void tell_map(const uint8_t *at, size_t bytes, const char *name)
{
	fprintf(perf.map, "%lx %zx $%s\n", (unsigned long)(uintptr_t)at, bytes, name);
}

static void tell_dump(const uint8_t *at, size_t bytes, const char *name)
{
	size_t length = strlen(name) + 1;
	const struct dump_record record = {
		.id = DUMP_LOAD, .bytes = (uint32_t)(sizeof record + length + bytes), .time_ns = now_ns(),
		.pid = (uint32_t)getpid(), .tid = (uint32_t)gettid(), .address = (uintptr_t)at,
		.code_address = (uintptr_t)at, .code_bytes = bytes, .number = perf.functions++,
	};

	fwrite(&record, sizeof record, 1, perf.dump);
	fwrite(name, length, 1, perf.dump);
	fwrite(at, bytes, 1, perf.dump);
}

static void tell(const uint8_t *at, size_t bytes, const char *name)
{
	if (bytes == 0)
		return;
	if (perf.map != NULL)
		tell_map(at, bytes, name);
	if (perf.dump != NULL)
		tell_dump(at, bytes, name);
}

/* The byte of the machine code where the operation at the word, or the next one that has any, begins. */
static uint32_t code_of(const struct native_code *code, uint32_t operations, size_t word)
{
	uint32_t low = 0, high = operations;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (code->pieces[mid].word < word)
			low = mid + 1;
		else
			high = mid;
	}
	return low < code->piece_count ? code->pieces[low].at : (uint32_t)code->bytes;
}

/* Behind the functions are the ways out of all of them. */
static void tell_functions(const struct code_instance *c, const struct native_code *code)
{
	uint32_t operations = 1, end;
	struct print_buffer name;
	char text[NAME_BYTES];

	while (operations < code->piece_count && code->pieces[operations].word > code->pieces[operations - 1].word)
		operations++;
	for (uint32_t i = 0; i < c->function_count; i++) {
		const Inst *info = c->functions[i], *next = c->words + c->word_count;
		uint32_t at = code_of(code, operations, (size_t)(info - c->words));

		if (i + 1 < c->function_count)
			next = c->functions[i + 1];
		end = code_of(code, operations, (size_t)(next - c->words));
		print_buffer_fixed(&name, text, sizeof text);
		print_mfa(&name, func_info_module(info), func_info_function(info), func_info_arity(info));
		tell(code->at + at, end - at, text);
	}
	end = code_of(code, operations, c->word_count);
	print_buffer_fixed(&name, text, sizeof text);
	print_atom(&name, c->module);
	print_text(&name, "::exits");
	tell(code->at + end, code->bytes - end, text);
}

void native_perf_add(const struct code_instance *c, const struct native_code *code)
{
	if ((perf.map == NULL && perf.dump == NULL) || code->piece_count == 0)
		return;
	lock_acquire(&perf.lock);
	tell_functions(c, code);
	if (perf.map != NULL && fflush(perf.map) != 0)
		give_up(&perf.map, "the map", errno);
	if (perf.dump != NULL && fflush(perf.dump) != 0)
		give_up(&perf.dump, "the dump", errno);
	lock_release(&perf.lock);
}
