/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls of each file operation. Runs on the async pool, what is quick on a scheduler; touches nothing but
 * the job and its file.
 * Invariant: on return job->error is 0 and the results are there, or it is the errno. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/efile.h"

#define FILE_CREATE_MODE 0666
#define DIR_CREATE_MODE 0777
#define READ_FILE_FIRST_BYTES (16 << 10)
/* Pieces that one system call writes. */
#define WRITE_PIECES 64

static int errno_if(bool failed)
{
	return failed ? errno : 0;
}

/* ---- open and close */

static int open_flags(uint32_t modes)
{
	int flags = O_CLOEXEC;

	if ((modes & EFILE_MODE_READ) && (modes & EFILE_MODE_WRITE))
		flags |= O_RDWR | O_CREAT;
	else if (modes & EFILE_MODE_WRITE)
		flags |= O_WRONLY | O_CREAT | O_TRUNC;
	else
		flags |= O_RDONLY;
	if (modes & EFILE_MODE_APPEND)
		flags = (flags & ~O_TRUNC) | O_APPEND;
	if (modes & EFILE_MODE_EXCLUSIVE)
		flags |= O_EXCL;
	if (modes & EFILE_MODE_SYNC)
		flags |= O_SYNC;
	if (modes & EFILE_MODE_DIRECTORY)
		flags |= O_DIRECTORY;
	return flags;
}

/* Returns the descriptor, or -errno. A directory opens only when asked for, as everywhere OTP runs. */
static int open_path(const char *path, uint32_t modes)
{
	mode_t create = modes & EFILE_MODE_DIRECTORY ? DIR_CREATE_MODE : FILE_CREATE_MODE;
	struct stat info;
	int fd;

	do {
		fd = open(path, open_flags(modes), create);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -errno;
	if (!(modes & (EFILE_MODE_SKIP_TYPE_CHECK | EFILE_MODE_DIRECTORY)) && fstat(fd, &info) == 0 &&
	    S_ISDIR(info.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	return fd;
}

static int run_open(struct efile_job *job)
{
	int fd = open_path(job->s[0], (uint32_t)job->i[0]);

	job->result = fd;
	return fd < 0 ? -fd : 0;
}

static int run_fdopen(struct efile_job *job)
{
	job->result = job->i[0];
	return errno_if(fcntl((int)job->i[0], F_GETFL) < 0 && errno == EBADF);
}

static int run_close(struct efile_job *job)
{
	return efile_close_fd(job->file);
}

/* ---- reading */

/* Reads until n bytes or the end; offset < 0: at the descriptor's position. Returns the bytes, or -errno. */
static int64_t read_full(int fd, uint8_t *to, size_t n, int64_t offset)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = offset < 0 ? read(fd, to + done, n - done)
					 : pread(fd, to + done, n - done, offset + (int64_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (int64_t)done;
}

static int read_into_data(struct efile_job *job, int fd, int64_t size, int64_t offset)
{
	int64_t got;

	job->data = binary_new((size_t)size);
	if (job->data == NULL)
		return ENOMEM;
	got = read_full(fd, job->data->data, (size_t)size, offset);
	if (got < 0)
		return (int)-got;
	if (got == 0)
		job->end_of_file = true;
	if (got < size)
		job->data = binary_resize(job->data, (size_t)got);
	job->data_bytes = (size_t)got;
	return 0;
}

static int run_read(struct efile_job *job)
{
	return read_into_data(job, job->file->fd, job->i[2], -1);
}

static int run_preadv(struct efile_job *job)
{
	return read_into_data(job, job->file->fd, job->i[2], job->i[3]);
}

static uint32_t get_be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* A pointer block <<Size:32, Offset:32>> at i3, then that data, when Size is at most i4. result = Size << 32 | Offset.
 * No whole pointer, or too big a size: end of file, with result -1. */
static int run_ipread(struct efile_job *job)
{
	uint8_t pointer[8];
	int64_t got = read_full(job->file->fd, pointer, sizeof(pointer), job->i[2]);
	uint32_t size, offset;

	job->result = -1;
	job->end_of_file = true;
	if (got < 0)
		return (int)-got;
	if (got < (int64_t)sizeof(pointer))
		return 0;
	size = get_be32(pointer);
	offset = get_be32(pointer + 4);
	if (size > job->i[3])
		return 0;
	job->end_of_file = false;
	job->result = (int64_t)((uint64_t)size << 32 | offset);
	return read_into_data(job, job->file->fd, size, offset);
}

static int read_whole(struct efile_job *job, int fd, size_t size)
{
	size_t room = size != 0 ? size : READ_FILE_FIRST_BYTES, done = 0;

	job->data = binary_new(room);
	if (job->data == NULL)
		return ENOMEM;
	for (;;) {
		int64_t got = read_full(fd, job->data->data + done, room - done, -1);
		struct binary *more;

		if (got < 0)
			return (int)-got;
		done += (size_t)got;
		if (done < room || done == size)
			break;
		room = done * 2;
		more = binary_resize(job->data, room);
		if (more == NULL)
			return ENOMEM;
		job->data = more;
	}
	if (done < room)
		job->data = binary_resize(job->data, done);
	job->data_bytes = done;
	return 0;
}

static int run_read_file(struct efile_job *job)
{
	struct stat info;
	int error, fd = open_path(job->s[0], EFILE_MODE_READ);

	if (fd < 0)
		return -fd;
	if (fstat(fd, &info) < 0)
		info.st_size = 0;
	error = read_whole(job, fd, (size_t)info.st_size);
	close(fd);
	return error;
}

/* ---- writing */

/* offset < 0: at the descriptor's position. job->result counts the bytes. */
static int write_all(struct efile_job *job, int64_t offset)
{
	int fd = job->file->fd;

	job->result = 0;
	while (job->bytes.size_bytes > 0) {
		struct iovec iov[WRITE_PIECES];
		int count = byte_queue_peek(&job->bytes, iov, WRITE_PIECES);
		ssize_t put = offset < 0 ? writev(fd, iov, count) : pwritev(fd, iov, count, offset + job->result);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno;
		job->result += put;
		byte_queue_drop(&job->bytes, (size_t)put);
	}
	return 0;
}

static int run_write(struct efile_job *job)
{
	return write_all(job, -1);
}

static int run_pwritev(struct efile_job *job)
{
	return write_all(job, job->i[3]);
}

/* ---- other operations on open files */

static int run_lseek(struct efile_job *job)
{
	job->result = lseek(job->file->fd, job->i[1], (int)job->i[2]);
	return errno_if(job->result < 0);
}

static int run_truncate(struct efile_job *job)
{
	off_t at = lseek(job->file->fd, 0, SEEK_CUR);

	return errno_if(at < 0 || ftruncate(job->file->fd, at) < 0);
}

static int run_fsync(struct efile_job *job)
{
	return errno_if(fsync(job->file->fd) < 0);
}

static int run_fdatasync(struct efile_job *job)
{
	return errno_if(fdatasync(job->file->fd) < 0);
}

/* posix_fadvise returns its error; OTP looks for a negative one and so never sees it. */
static int run_fadvise(struct efile_job *job)
{
	(void)posix_fadvise(job->file->fd, job->i[1], job->i[2], (int)job->i[3]);
	return 0;
}

static int run_allocate(struct efile_job *job)
{
	int error;

	do {
		error = errno_if(fallocate(job->file->fd, 0, job->i[1], job->i[2]) < 0);
	} while (error == EINTR);
	while (error != 0) {
		error = posix_fallocate(job->file->fd, job->i[1], job->i[2]);
		if (error != EINTR)
			break;
	}
	return error;
}

/* ---- what a file is */

static int access_of_owner(const struct stat *info)
{
	int shift = 0;

	if (info->st_uid == geteuid())
		shift = 6;
	else if (info->st_gid == getegid())
		shift = 3;
	return ((info->st_mode >> shift) & 4 ? 1 : 0) | ((info->st_mode >> shift) & 2 ? 2 : 0);
}

static int access_of_path(const char *path)
{
	return (access(path, R_OK) == 0 ? 1 : 0) | (access(path, W_OK) == 0 ? 2 : 0);
}

static int run_fstat(struct efile_job *job)
{
	if (job->file != NULL) {
		if (fstat(job->file->fd, &job->info) < 0)
			return errno;
		job->access = access_of_owner(&job->info);
		return 0;
	}
	if (stat(job->s[0], &job->info) < 0)
		return errno;
	job->access = access_of_path(job->s[0]);
	return 0;
}

static int run_lstat(struct efile_job *job)
{
	if (lstat(job->s[0], &job->info) < 0)
		return errno;
	job->access = access_of_path(job->s[0]);
	return 0;
}

/* Without the right to set the set-id bits the others are set alone. */
static int set_permissions(const char *path, mode_t mode)
{
	if (chmod(path, mode & 06777) == 0 || chmod(path, mode & 0777) == 0)
		return 0;
	return errno;
}

/* i1 mode, i2 uid, i3 gid; a mode of -1 stands for "the owner, not the mode". */
static int run_write_info(struct efile_job *job)
{
	if (job->i[0] >= 0)
		return set_permissions(job->s[0], (mode_t)job->i[0]);
	return errno_if(chown(job->s[0], (uid_t)job->i[1], (gid_t)job->i[2]) < 0);
}

static int run_set_time(struct efile_job *job)
{
	struct timeval times[2] = { { .tv_sec = job->i[0] }, { .tv_sec = job->i[1] } };

	return errno_if(utimes(job->s[0], times) < 0);
}

/* ---- names */

static int run_readlink(struct efile_job *job)
{
	size_t room = 256;

	for (;; room *= 2) {
		ssize_t n;

		job->data = binary_new(room);
		if (job->data == NULL)
			return ENOMEM;
		n = readlink(job->s[0], (char *)job->data->data, room);
		if (n < 0)
			return errno;
		if ((size_t)n < room) {
			job->data_bytes = (size_t)n;
			return 0;
		}
		binary_unref(job->data);
	}
}

static int run_readdir(struct efile_job *job)
{
	DIR *dir = opendir(job->s[0]);
	struct dirent *entry;

	if (dir == NULL)
		return errno;
	while ((entry = readdir(dir)) != NULL) {
		struct efile_name *name;
		size_t n = strlen(entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		name = mem_alloc(sizeof(*name) + n);
		name->n = n;
		memcpy(name->text, entry->d_name, n);
		name->next = job->names;
		job->names = name;
	}
	closedir(dir);
	return 0;
}

static int run_rename(struct efile_job *job)
{
	if (rename(job->s[0], job->s[1]) == 0)
		return 0;
	if (errno == ENOTEMPTY)
		return EEXIST;
	return strcmp(job->s[0], "/") == 0 ? EINVAL : errno;
}

static int run_link(struct efile_job *job)
{
	return errno_if(link(job->s[0], job->s[1]) < 0);
}

static int run_symlink(struct efile_job *job)
{
	return errno_if(symlink(job->s[0], job->s[1]) < 0);
}

static int run_mkdir(struct efile_job *job)
{
	return errno_if(mkdir(job->s[0], DIR_CREATE_MODE) < 0);
}

static int run_delete(struct efile_job *job)
{
	if (unlink(job->s[0]) == 0)
		return 0;
	return errno == EISDIR ? EPERM : errno;
}

static int run_rmdir(struct efile_job *job)
{
	struct stat that, here;

	if (rmdir(job->s[0]) == 0)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return errno;
	if (stat(job->s[0], &that) == 0 && stat(".", &here) == 0 && that.st_ino == here.st_ino &&
	    that.st_dev == here.st_dev)
		return EINVAL;
	return EEXIST;
}

static int run_chdir(struct efile_job *job)
{
	return errno_if(chdir(job->s[0]) < 0);
}

static int run_pwd(struct efile_job *job)
{
	for (size_t room = 256;; room *= 2) {
		job->data = binary_new(room);
		if (job->data == NULL)
			return ENOMEM;
		if (getcwd((char *)job->data->data, room) != NULL) {
			job->data_bytes = strlen((char *)job->data->data);
			return 0;
		}
		if (errno != ERANGE)
			return errno;
		binary_unref(job->data);
	}
}

/* Short names are another system's. */
static int run_altname(struct efile_job *job)
{
	(void)job;
	return ENOTSUP;
}

static int (*const run_table[])(struct efile_job *job) = {
	[EFILE_OPEN] = run_open,
	[EFILE_READ] = run_read,
	[EFILE_LSEEK] = run_lseek,
	[EFILE_WRITE] = run_write,
	[EFILE_FSTAT] = run_fstat,
	[EFILE_PWD] = run_pwd,
	[EFILE_READDIR] = run_readdir,
	[EFILE_CHDIR] = run_chdir,
	[EFILE_FSYNC] = run_fsync,
	[EFILE_MKDIR] = run_mkdir,
	[EFILE_DELETE] = run_delete,
	[EFILE_RENAME] = run_rename,
	[EFILE_RMDIR] = run_rmdir,
	[EFILE_TRUNCATE] = run_truncate,
	[EFILE_READ_FILE] = run_read_file,
	[EFILE_WRITE_INFO] = run_write_info,
	[EFILE_LSTAT] = run_lstat,
	[EFILE_READLINK] = run_readlink,
	[EFILE_LINK] = run_link,
	[EFILE_SYMLINK] = run_symlink,
	[EFILE_CLOSE] = run_close,
	[EFILE_PWRITEV] = run_pwritev,
	[EFILE_PREADV] = run_preadv,
	[EFILE_IPREAD] = run_ipread,
	[EFILE_ALTNAME] = run_altname,
	[EFILE_FDATASYNC] = run_fdatasync,
	[EFILE_FADVISE] = run_fadvise,
	[EFILE_ALLOCATE] = run_allocate,
	[EFILE_SET_TIME] = run_set_time,
	[EFILE_FDOPEN] = run_fdopen,
};

void efile_run(struct efile_job *job)
{
	job->error = run_table[job->command](job);
}

/* ---- what takes no waiting */

/* The kernel has the path's directories in memory, and with them that the name is not there (RESOLVE_CACHED, since
 * Linux 5.12; refused when a disk or a server would be asked). A name that is there fails as no directory, before
 * anything is opened. */
static bool is_known_missing(const char *path, uint64_t how_flags)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC | how_flags, .resolve = RESOLVE_CACHED };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == ENOENT;
}

bool efile_is_quick(const struct efile_job *job)
{
	switch (job->command) {
	case EFILE_OPEN:
		return !(job->i[0] & EFILE_MODE_WRITE) && is_known_missing(job->s[0], 0);
	case EFILE_FSTAT:
		return job->file == NULL && is_known_missing(job->s[0], 0);
	case EFILE_READ_FILE:
		return is_known_missing(job->s[0], 0);
	case EFILE_LSTAT:
		return is_known_missing(job->s[0], O_NOFOLLOW);
	default:
		return false;
	}
}
