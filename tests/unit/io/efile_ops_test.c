/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls of file operations, on real files; errors as OTP 25's prim_file tells them. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/efile.h"
#include "io/posix.h"
#include "unit.h"

static char dir[] = "/tmp/efile_ops_XXXXXX";
static Process process;

static void setup(void)
{
	unit_init();
	efile_init(term_from_port(0));
	process.id = term_from_pid(7, 0);
	strcpy(dir, "/tmp/efile_ops_XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static char *path_of(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return mem_strdup(path);
}

/* Runs an operation on one or two names, keeps the job for its results. */
static struct efile_job *run_path(enum efile_command command, const char *s1, const char *s2, int64_t i1)
{
	struct efile_job *job = efile_job_new(command, NULL);

	job->s[0] = path_of(s1);
	job->s[1] = s2 != NULL ? path_of(s2) : NULL;
	job->i[0] = i1;
	efile_run(job);
	return job;
}

static int error_of_path(enum efile_command command, const char *s1, const char *s2, int64_t i1)
{
	struct efile_job *job = run_path(command, s1, s2, i1);
	int error = job->error;

	efile_job_drop(job);
	return error;
}

static struct efile *open_file(const char *name, uint32_t modes)
{
	struct efile_job *job = run_path(EFILE_OPEN, name, NULL, modes);
	struct efile *f;

	ck_assert_int_eq(job->error, 0);
	f = efile_new(&process, (int)job->result, modes);
	efile_job_drop(job);
	return f;
}

static struct efile_job *file_job(enum efile_command command, struct efile *f, int64_t i2, int64_t i3, int64_t i4)
{
	struct efile_job *job = efile_job_new(command, f);

	job->i[0] = f->fd;
	job->i[1] = i2;
	job->i[2] = i3;
	job->i[3] = i4;
	return job;
}

static void write_text(struct efile *f, enum efile_command command, const char *text, int64_t offset)
{
	struct efile_job *job = file_job(command, f, 0, 0, offset);

	byte_queue_put(&job->bytes, text, strlen(text));
	efile_run(job);
	ck_assert_int_eq(job->error, 0);
	ck_assert_int_eq(job->result, (int64_t)strlen(text));
	efile_job_drop(job);
}

static void check_read(struct efile *f, enum efile_command command, int64_t size, int64_t offset, const char *want)
{
	struct efile_job *job = file_job(command, f, 0, size, offset);

	efile_run(job);
	ck_assert_int_eq(job->error, 0);
	ck_assert(job->end_of_file == (want == NULL));
	if (want != NULL) {
		ck_assert_uint_eq(job->data_bytes, strlen(want));
		ck_assert_mem_eq(job->data->data, want, job->data_bytes);
	}
	efile_job_drop(job);
}

static int64_t seek(struct efile *f, int64_t offset, int origin)
{
	struct efile_job *job = file_job(EFILE_LSEEK, f, offset, origin, 0);
	int64_t result;

	efile_run(job);
	result = job->error != 0 ? -job->error : job->result;
	efile_job_drop(job);
	return result;
}

static void close_file(struct efile *f)
{
	ck_assert(efile_acquire_close(f));
	ck_assert_int_eq(efile_close_fd(f), 0);
}

START_TEST(test_efile_run_write_seek_read)
{
	struct efile *f = open_file("a", EFILE_MODE_READ | EFILE_MODE_WRITE);

	write_text(f, EFILE_WRITE, "hello world", 0);
	ck_assert_int_eq(seek(f, 6, SEEK_SET), 6);
	check_read(f, EFILE_READ, 100, 0, "world");
	check_read(f, EFILE_READ, 100, 0, NULL);
	check_read(f, EFILE_READ, 0, 0, NULL);
	check_read(f, EFILE_PREADV, 5, 0, "hello");
	check_read(f, EFILE_PREADV, 5, 11, NULL);
	write_text(f, EFILE_PWRITEV, "J", 0);
	check_read(f, EFILE_PREADV, 3, 0, "Jel");
	ck_assert_int_eq(seek(f, -1, SEEK_SET), -EINVAL);
	ck_assert_int_eq(seek(f, -2, SEEK_END), 9);
	close_file(f);
}
END_TEST

START_TEST(test_efile_run_write_many_pieces)
{
	struct efile *f = open_file("many", EFILE_MODE_WRITE);
	struct efile_job *job = file_job(EFILE_WRITE, f, 0, 0, 0);
	struct binary *b = binary_new(100);

	memset(b->data, 'z', 100);
	for (int k = 0; k < 211; k++)
		byte_queue_put_binary(&job->bytes, b, b->data, 100);
	binary_unref(b);
	efile_run(job);
	ck_assert_int_eq(job->error, 0);
	ck_assert_int_eq(job->result, 21100);
	efile_job_drop(job);
	close_file(f);
	job = run_path(EFILE_READ_FILE, "many", NULL, 0);
	ck_assert_uint_eq(job->data_bytes, 21100);
	efile_job_drop(job);
}
END_TEST

START_TEST(test_efile_run_truncate_allocate_sync)
{
	struct efile *f = open_file("t", EFILE_MODE_READ | EFILE_MODE_WRITE);
	struct efile_job *job;

	write_text(f, EFILE_WRITE, "0123456789", 0);
	seek(f, 4, SEEK_SET);
	job = file_job(EFILE_TRUNCATE, f, 0, 0, 0);
	efile_run(job);
	ck_assert_int_eq(job->error, 0);
	efile_job_drop(job);
	check_read(f, EFILE_PREADV, 100, 0, "0123");
	for (enum efile_command c = EFILE_FSYNC;; c = EFILE_FDATASYNC) {
		job = file_job(c, f, 0, 0, 0);
		efile_run(job);
		ck_assert_int_eq(job->error, 0);
		efile_job_drop(job);
		if (c == EFILE_FDATASYNC)
			break;
	}
	job = file_job(EFILE_ALLOCATE, f, 0, 4096, 0);
	efile_run(job);
	ck_assert_int_eq(job->error, 0);
	efile_job_drop(job);
	job = file_job(EFILE_FSTAT, f, 0, 0, 0);
	efile_run(job);
	ck_assert_int_eq(job->info.st_size, 4096);
	ck_assert_int_eq(job->access, 3);
	efile_job_drop(job);
	close_file(f);
}
END_TEST

START_TEST(test_efile_run_ipread)
{
	struct efile *f = open_file("ip", EFILE_MODE_READ | EFILE_MODE_WRITE);
	struct efile_job *job;

	job = file_job(EFILE_WRITE, f, 0, 0, 0);
	byte_queue_put(&job->bytes, "\0\0\0\3\0\0\0\10abcd", 12);
	efile_run(job);
	efile_job_drop(job);
	job = file_job(EFILE_IPREAD, f, 0, 0, INT32_MAX);
	efile_run(job);
	ck_assert_int_eq(job->error, 0);
	ck_assert_int_eq(job->result, (int64_t)3 << 32 | 8);
	ck_assert_uint_eq(job->data_bytes, 3);
	ck_assert_mem_eq(job->data->data, "abc", 3);
	efile_job_drop(job);
	job = file_job(EFILE_IPREAD, f, 0, 0, 2);
	efile_run(job);
	ck_assert_int_eq(job->result, -1);
	efile_job_drop(job);
	job = file_job(EFILE_IPREAD, f, 0, 8, INT32_MAX);
	efile_run(job);
	ck_assert_int_eq(job->result, -1);
	efile_job_drop(job);
	close_file(f);
}
END_TEST

START_TEST(test_efile_run_names)
{
	struct efile_job *job;
	int count = 0;

	close_file(open_file("x", EFILE_MODE_WRITE));
	ck_assert_int_eq(error_of_path(EFILE_MKDIR, "d", NULL, 0), 0);
	ck_assert_int_eq(error_of_path(EFILE_MKDIR, "d", NULL, 0), EEXIST);
	ck_assert_int_eq(error_of_path(EFILE_LINK, "x", "y", 0), 0);
	ck_assert_int_eq(error_of_path(EFILE_RENAME, "y", "d/z", 0), 0);
	ck_assert_int_eq(error_of_path(EFILE_RENAME, "none", "d/z", 0), ENOENT);
	ck_assert_int_eq(error_of_path(EFILE_SYMLINK, "x", "s", 0), 0);
	ck_assert_int_eq(error_of_path(EFILE_RMDIR, "d", NULL, 0), EEXIST);
	ck_assert_int_eq(error_of_path(EFILE_DELETE, "d", NULL, 0), EPERM);
	ck_assert_int_eq(error_of_path(EFILE_OPEN, "d", NULL, EFILE_MODE_READ), EISDIR);
	ck_assert_int_eq(error_of_path(EFILE_OPEN, "none", NULL, EFILE_MODE_READ), ENOENT);
	ck_assert_int_eq(error_of_path(EFILE_OPEN, "x", NULL, EFILE_MODE_WRITE | EFILE_MODE_EXCLUSIVE), EEXIST);
	ck_assert_int_eq(error_of_path(EFILE_ALTNAME, "x", NULL, 0), ENOTSUP);
	job = run_path(EFILE_READLINK, "s", NULL, 0);
	ck_assert_uint_eq(job->data_bytes, strlen(dir) + 2);
	efile_job_drop(job);
	ck_assert_int_eq(error_of_path(EFILE_READLINK, "x", NULL, 0), EINVAL);
	job = run_path(EFILE_READDIR, "", NULL, 0);
	for (struct efile_name *name = job->names; name != NULL; name = name->next)
		count++;
	ck_assert_int_eq(count, 3);
	efile_job_drop(job);
	job = run_path(EFILE_LSTAT, "s", NULL, 0);
	ck_assert(S_ISLNK(job->info.st_mode));
	efile_job_drop(job);
	job = run_path(EFILE_FSTAT, "s", NULL, 0);
	ck_assert(S_ISREG(job->info.st_mode));
	ck_assert_int_eq(job->info.st_nlink, 2);
	efile_job_drop(job);
}
END_TEST

START_TEST(test_efile_run_read_file_that_grows_from_nothing)
{
	/* proc files have size 0: read until the end. */
	struct efile_job *job = efile_job_new(EFILE_READ_FILE, NULL);

	job->s[0] = mem_strdup("/proc/self/maps");
	efile_run(job);
	ck_assert_int_eq(job->error, 0);
	ck_assert_uint_gt(job->data_bytes, 100);
	efile_job_drop(job);
}
END_TEST

START_TEST(test_efile_release_closes_what_was_put_off)
{
	struct efile *f = open_file("p", EFILE_MODE_WRITE);
	int fd = f->fd;

	ck_assert_uint_eq(efile_open_count(), 1);
	ck_assert(efile_acquire(f));
	ck_assert(!efile_acquire(f));
	ck_assert(!efile_acquire_close(f));
	efile_process_exit(&process);
	ck_assert_int_ne(fcntl(fd, F_GETFD), -1);
	efile_release(f);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_uint_eq(efile_open_count(), 0);
}
END_TEST

START_TEST(test_efile_process_exit_closes_its_files_only)
{
	Process other = { .id = term_from_pid(8, 0) };
	struct efile_job *job;
	struct efile *mine, *theirs;

	async_init(0);
	mine = open_file("m", EFILE_MODE_WRITE);
	job = run_path(EFILE_OPEN, "o", NULL, EFILE_MODE_WRITE);
	theirs = efile_new(&other, (int)job->result, EFILE_MODE_WRITE);
	efile_job_drop(job);
	(void)mine;
	efile_process_exit(&process);
	ck_assert_uint_eq(efile_open_count(), 1);
	ck_assert(efile_acquire(theirs));
	efile_release(theirs);
	close_file(theirs);
	ck_assert_uint_eq(efile_open_count(), 0);
}
END_TEST

static bool is_quick(enum efile_command command, const char *name, int64_t i1)
{
	struct efile_job *job = efile_job_new(command, NULL);
	bool quick;

	job->s[0] = path_of(name);
	job->i[0] = i1;
	quick = efile_is_quick(job);
	efile_job_drop(job);
	return quick;
}

/* Whatever the kernel has in its cache. */
START_TEST(test_efile_is_quick_not_for_what_may_block)
{
	static const char *const names[] = { "file", "dir", "fifo", "link", "." };
	char *fifo = path_of("fifo");

	ck_assert_int_eq(error_of_path(EFILE_OPEN, "file", NULL, EFILE_MODE_WRITE), 0);
	ck_assert_int_eq(error_of_path(EFILE_MKDIR, "dir", NULL, 0), 0);
	ck_assert_int_eq(error_of_path(EFILE_SYMLINK, "fifo", "link", 0), 0);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	mem_free(fifo);
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		ck_assert(!is_quick(EFILE_OPEN, names[k], EFILE_MODE_READ));
		ck_assert(!is_quick(EFILE_READ_FILE, names[k], 0));
		ck_assert(!is_quick(EFILE_FSTAT, names[k], 0));
		ck_assert(!is_quick(EFILE_LSTAT, names[k], 0));
	}
	ck_assert_int_eq(error_of_path(EFILE_LSTAT, "none", NULL, 0), ENOENT);
	ck_assert(!is_quick(EFILE_OPEN, "none", EFILE_MODE_READ | EFILE_MODE_WRITE));
	ck_assert(!is_quick(EFILE_OPEN, "none", EFILE_MODE_WRITE));
	ck_assert(!is_quick(EFILE_MKDIR, "none", 0));
}
END_TEST

/* Not through a link that leads nowhere, which is there itself. */
START_TEST(test_efile_is_quick_follows_links_as_the_operation)
{
	ck_assert_int_eq(error_of_path(EFILE_SYMLINK, "none", "dangling", 0), 0);
	ck_assert_int_eq(error_of_path(EFILE_FSTAT, "dangling", NULL, 0), ENOENT);
	ck_assert(!is_quick(EFILE_LSTAT, "dangling", 0));
	ck_assert_int_eq(error_of_path(EFILE_LSTAT, "dangling", NULL, 0), 0);
	ck_assert(is_quick(EFILE_FSTAT, "dangling", 0) == is_quick(EFILE_FSTAT, "none", 0));
}
END_TEST

START_TEST(test_posix_error_atom_names)
{
	ck_assert(posix_error_atom(ENOENT) == atom_from_text("enoent"));
	ck_assert(posix_error_atom(EWOULDBLOCK) == atom_from_text("eagain"));
	ck_assert(posix_error_atom(ENOTSUP) == atom_from_text("enotsup"));
	ck_assert(posix_error_atom(99999) == atom_from_text("unknown"));
}
END_TEST

Suite *efile_ops_suite(void)
{
	Suite *s = suite_create("io/efile");
	TCase *c = tcase_create("efile");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, test_efile_run_write_seek_read);
	tcase_add_test(c, test_efile_run_write_many_pieces);
	tcase_add_test(c, test_efile_run_truncate_allocate_sync);
	tcase_add_test(c, test_efile_run_ipread);
	tcase_add_test(c, test_efile_run_names);
	tcase_add_test(c, test_efile_run_read_file_that_grows_from_nothing);
	tcase_add_test(c, test_efile_release_closes_what_was_put_off);
	tcase_add_test(c, test_efile_process_exit_closes_its_files_only);
	tcase_add_test(c, test_efile_is_quick_not_for_what_may_block);
	tcase_add_test(c, test_efile_is_quick_follows_links_as_the_operation);
	tcase_add_test(c, test_posix_error_atom_names);
	suite_add_tcase(s, c);
	return s;
}
