/* SPDX-License-Identifier: Apache-2.0 */
/* The natives of prim_file: arguments to operations, results to terms. What takes time is io/efile's.
 * Source of arguments, results and errors: OTP 25's prim_file.erl. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "bif/bif.h"
#include "data/binary.h"
#include "data/number.h"
#include "data/utf8.h"
#include "io/efile.h"
#include "io/filename.h"
#include "io/posix.h"

/* {{1902,1,1},{0,0,0}}: the earliest time that calendars of every kind can show. */
#define FILE_TIME_MIN (-2145916800)

/* ---- arguments */

static Term posix_failure(Process *p, int error)
{
	return posix_error_tuple(&p->heap, error);
}

/* A native name: a binary with NULs at its end and nowhere else. Returns an errno. Owns: the caller (mem_free). */
static int get_path(Term t, char **path)
{
	uint8_t *scratch = NULL;
	const uint8_t *bytes, *nul;
	size_t n;
	int error = 0;

	if (!term_is_bitstring(t) || !term_is_binary(t))
		return EINVAL;
	bytes = binary_bytes(t, &n, &scratch);
	nul = n > 0 ? memchr(bytes, 0, n) : NULL;
	if (nul == NULL)
		error = EINVAL;
	for (; error == 0 && nul < bytes + n; nul++) {
		if (*nul != 0)
			error = EINVAL;
	}
	if (error == 0)
		*path = mem_strdup((const char *)bytes);
	mem_free(scratch);
	return error;
}

static bool get_int(Term t, int *n)
{
	int64_t wide;

	if (!num_get_int64(t, &wide) || wide < INT_MIN || wide > INT_MAX)
		return false;
	*n = (int)wide;
	return true;
}

/* A number from 0 on; anything else is einval, as for every size and offset. */
static bool get_natural(Term t, int64_t *n)
{
	return num_get_int64(t, n) && *n >= 0;
}

/* The open file in use from now on. NULL: *failure is what the BIF returns. */
static struct efile *take_file(Process *p, Term t, Term *failure)
{
	struct efile *f = (struct efile *)resource_get(t, &efile_type);

	if (f == NULL) {
		*failure = exc_badarg(p);
		return NULL;
	}
	if (!efile_acquire(f)) {
		*failure = posix_failure(p, EINVAL);
		return NULL;
	}
	return f;
}

static Term give_back(Process *p, struct efile *f, int error)
{
	efile_release(f);
	return error == 0 ? exc_badarg(p) : posix_failure(p, error);
}

/* An operation on one or two names. NULL: *error is its errno. */
static struct efile_job *path_job(enum efile_command command, Term path, Term other, int *error)
{
	struct efile_job *job = efile_job_new(command, NULL);

	*error = get_path(path, &job->s[0]);
	if (*error == 0 && other != TERM_NONE)
		*error = get_path(other, &job->s[1]);
	if (*error == 0)
		return job;
	efile_job_drop(job);
	return NULL;
}

/* An operation on an open file: i1 is its descriptor, i2 its modes unless set anew. */
static struct efile_job *file_job(enum efile_command command, struct efile *f)
{
	struct efile_job *job = efile_job_new(command, f);

	job->i[0] = f->fd;
	job->i[1] = f->modes;
	return job;
}

/* ---- results */

static Term reply_ok(Process *p, struct efile_job *job)
{
	(void)p;
	(void)job;
	return am_ok;
}

static Term take_data(Process *p, struct efile_job *job)
{
	struct binary *b = job->data;

	job->data = NULL;
	return binary_from_counted(&p->heap, b, job->data_bytes);
}

static Term reply_data(Process *p, struct efile_job *job)
{
	return heap_tuple(&p->heap, am_ok, take_data(p, job));
}

static Term reply_read(Process *p, struct efile_job *job)
{
	return job->end_of_file ? am_eof : reply_data(p, job);
}

static Term reply_position(Process *p, struct efile_job *job)
{
	return heap_tuple(&p->heap, am_ok, heap_uint(&p->heap, (uint64_t)job->result));
}

static Term reply_open(Process *p, struct efile_job *job)
{
	uint32_t modes = job->command == EFILE_OPEN ? (uint32_t)job->i[0] : EFILE_MODE_FROM_FD;
	struct efile *f = efile_new(p, (int)job->result, modes);

	job->result = -1;
	return heap_tuple(&p->heap, am_ok, resource_put(&p->heap, &f->resource));
}

static Term reply_ipread(Process *p, struct efile_job *job)
{
	uint64_t pointer = (uint64_t)job->result;
	Term data;

	if (job->result == -1)
		return am_eof;
	data = job->end_of_file ? am_eof : take_data(p, job);
	return heap_tuple(
		&p->heap, am_ok,
		heap_tuple(&p->heap, SMALL((int64_t)(pointer >> 32)), SMALL((int64_t)(pointer & UINT32_MAX)), data));
}

static Term file_type_atom(mode_t mode)
{
	if (S_ISCHR(mode) || S_ISBLK(mode))
		return am_device;
	if (S_ISDIR(mode))
		return am_directory;
	if (S_ISREG(mode))
		return am_regular;
	return S_ISLNK(mode) ? am_symlink : am_other;
}

static Term file_time(struct heap *h, int64_t seconds)
{
	return heap_int(h, seconds < FILE_TIME_MIN ? FILE_TIME_MIN : seconds);
}

/* #file_info{}; numbers of 32 bits, as OTP cuts them. */
static Term reply_info(Process *p, struct efile_job *job)
{
	static const Term access[] = { am_none, am_read, am_write, am_read_write };
	const struct stat *info = &job->info;
	struct heap *h = &p->heap;

	return heap_tuple(h, am_file_info, heap_uint(h, (uint64_t)info->st_size), file_type_atom(info->st_mode),
			  access[job->access], file_time(h, info->st_atime), file_time(h, info->st_mtime),
			  file_time(h, info->st_ctime), heap_uint(h, (uint32_t)info->st_mode),
			  heap_uint(h, (uint32_t)info->st_nlink), heap_uint(h, (uint32_t)info->st_dev),
			  heap_uint(h, (uint32_t)info->st_rdev), heap_uint(h, (uint32_t)info->st_ino),
			  heap_uint(h, info->st_uid), heap_uint(h, info->st_gid));
}

/* The last name read comes first. */
static Term reply_names(Process *p, struct efile_job *job)
{
	Term list = NIL, *tail = &list;

	for (struct efile_name *name = job->names; name != NULL; name = name->next) {
		Term head = binary_put(&p->heap, name->text, name->n);
		Term *cell = heap_alloc(&p->heap, 2);

		cell[0] = head;
		cell[1] = NIL;
		*tail = term_from_cons(cell);
		tail = &cell[1];
		process_bump(p, 1);
	}
	return heap_tuple(&p->heap, am_ok, list);
}

/* ---- open files */

static uint32_t get_modes(Term list)
{
	static const struct {
		Term atom;
		uint32_t mode;
	} modes[] = {
		{ am_read, EFILE_MODE_READ },           { am_write, EFILE_MODE_WRITE },
		{ am_append, EFILE_MODE_APPEND },       { am_exclusive, EFILE_MODE_EXCLUSIVE },
		{ am_sync, EFILE_MODE_SYNC },           { am_directory, EFILE_MODE_DIRECTORY },
		{ am_skip_type_check, EFILE_MODE_SKIP_TYPE_CHECK },
	};
	uint32_t set = 0;

	for (; term_is_cons(list); list = cons_tail(list)) {
		for (size_t k = 0; k < sizeof(modes) / sizeof(modes[0]); k++) {
			if (cons_head(list) == modes[k].atom)
				set |= modes[k].mode;
		}
	}
	if (set & (EFILE_MODE_APPEND | EFILE_MODE_EXCLUSIVE))
		set |= EFILE_MODE_WRITE;
	else if (!(set & (EFILE_MODE_READ | EFILE_MODE_WRITE)))
		set |= EFILE_MODE_READ;
	return set;
}

Term bif_prim_file_open_nif_2(Process *p, Term *args)
{
	struct efile_job *job;
	int error;

	if (!term_is_list(args[1]))
		return exc_badarg(p);
	job = path_job(EFILE_OPEN, args[0], TERM_NONE, &error);
	if (job == NULL)
		return posix_failure(p, error);
	job->i[0] = get_modes(args[1]);
	return efile_submit(p, job, reply_open);
}

Term bif_prim_file_file_desc_to_ref_nif_1(Process *p, Term *args)
{
	struct efile_job *job;
	int fd;

	if (!get_int(args[0], &fd))
		return exc_badarg(p);
	job = efile_job_new(EFILE_FDOPEN, NULL);
	job->i[0] = fd;
	return efile_submit(p, job, reply_open);
}

Term bif_prim_file_close_nif_1(Process *p, Term *args)
{
	struct efile *f = (struct efile *)resource_get(args[0], &efile_type);

	if (f == NULL)
		return exc_badarg(p);
	if (!efile_acquire_close(f))
		return posix_failure(p, EINVAL);
	return efile_submit(p, file_job(EFILE_CLOSE, f), reply_ok);
}

/* A file whose owner died closes itself: nothing is left to do. */
Term bif_prim_file_delayed_close_nif_1(Process *p, Term *args)
{
	return resource_get(args[0], &efile_type) != NULL ? am_ok : exc_badarg(p);
}

Term bif_prim_file_get_handle_nif_1(Process *p, Term *args)
{
	Term failure, handle;
	struct efile *f = take_file(p, args[0], &failure);

	if (f == NULL)
		return failure;
	handle = binary_put(&p->heap, &f->fd, sizeof(f->fd));
	efile_release(f);
	return handle;
}

Term bif_prim_file_read_nif_2(Process *p, Term *args)
{
	struct efile_job *job;
	Term failure;
	struct efile *f = take_file(p, args[0], &failure);
	int64_t size;

	if (f == NULL)
		return failure;
	if (!term_is_number(args[1]))
		return give_back(p, f, 0);
	if (!get_natural(args[1], &size))
		return give_back(p, f, EINVAL);
	job = file_job(EFILE_READ, f);
	job->i[2] = size;
	return efile_submit(p, job, reply_read);
}

Term bif_prim_file_pread_nif_3(Process *p, Term *args)
{
	struct efile_job *job;
	Term failure;
	struct efile *f = take_file(p, args[0], &failure);
	int64_t offset, size;

	if (f == NULL)
		return failure;
	if (!term_is_number(args[1]) || !term_is_number(args[2]))
		return give_back(p, f, 0);
	if (!get_natural(args[1], &offset) || !get_natural(args[2], &size))
		return give_back(p, f, EINVAL);
	job = file_job(EFILE_PREADV, f);
	job->i[2] = size;
	job->i[3] = offset;
	return efile_submit(p, job, reply_read);
}

Term bif_prim_file_ipread_s32bu_p32bu_nif_3(Process *p, Term *args)
{
	struct efile_job *job;
	Term failure;
	struct efile *f = take_file(p, args[0], &failure);
	int64_t offset, max;

	if (f == NULL)
		return failure;
	if (!term_is_number(args[1]) || !term_is_number(args[2]))
		return give_back(p, f, 0);
	if (!get_natural(args[1], &offset) || !num_get_int64(args[2], &max) || max > INT32_MAX)
		return give_back(p, f, EINVAL);
	job = file_job(EFILE_IPREAD, f);
	job->i[2] = offset;
	job->i[3] = max;
	return efile_submit(p, job, reply_ipread);
}

/* A list of binaries. Returns 0, an errno, or -1 when it is something else. */
static int get_iovec(Term list, struct byte_queue *q)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term t = cons_head(list);
		struct binary *shared = NULL;
		const uint8_t *bytes;
		uint8_t *scratch = NULL;
		bool ok = true;
		size_t n;

		if (!term_is_bitstring(t) || !term_is_binary(t))
			return -1;
		if (binary_size_bytes(t) > HEAPBIN_LIMIT)
			shared = binary_share(t, &bytes, &n);
		if (shared != NULL) {
			byte_queue_put_binary(q, shared, bytes, n);
			binary_unref(shared);
		} else {
			bytes = binary_bytes(t, &n, &scratch);
			ok = byte_queue_put(q, bytes, n);
			mem_free(scratch);
		}
		if (!ok)
			return ENOMEM;
	}
	return list == NIL ? 0 : -1;
}

/* The whole vector goes at once: {continue, ...} is never the answer. */
static Term submit_write(Process *p, struct efile_job *job, Term iovec)
{
	int error = get_iovec(iovec, &job->bytes);

	if (error != 0) {
		struct efile *f = job->file;
		Term result = give_back(p, f, error < 0 ? 0 : error);

		efile_job_drop(job);
		return result;
	}
	job->i[2] = (int64_t)job->bytes.size_bytes;
	return efile_submit(p, job, reply_ok);
}

Term bif_prim_file_write_nif_2(Process *p, Term *args)
{
	Term failure;
	struct efile *f = take_file(p, args[0], &failure);

	if (f == NULL)
		return failure;
	return submit_write(p, file_job(EFILE_WRITE, f), args[1]);
}

Term bif_prim_file_pwrite_nif_3(Process *p, Term *args)
{
	struct efile_job *job;
	Term failure;
	struct efile *f = take_file(p, args[0], &failure);
	int64_t offset;

	if (f == NULL)
		return failure;
	if (!term_is_number(args[1]))
		return give_back(p, f, 0);
	if (!get_natural(args[1], &offset))
		return give_back(p, f, EINVAL);
	job = file_job(EFILE_PWRITEV, f);
	job->i[3] = offset;
	return submit_write(p, job, args[2]);
}

Term bif_prim_file_seek_nif_3(Process *p, Term *args)
{
	struct efile_job *job;
	Term failure;
	struct efile *f = take_file(p, args[0], &failure);
	int64_t offset;
	int origin;

	if (f == NULL)
		return failure;
	origin = args[1] == am_bof ? SEEK_SET : args[1] == am_cur ? SEEK_CUR : args[1] == am_eof ? SEEK_END : -1;
	if (origin < 0 || !num_get_int64(args[2], &offset))
		return give_back(p, f, 0);
	job = file_job(EFILE_LSEEK, f);
	job->i[1] = offset;
	job->i[2] = origin;
	return efile_submit(p, job, reply_position);
}

Term bif_prim_file_sync_nif_2(Process *p, Term *args)
{
	struct efile_job *job;
	Term failure;
	struct efile *f = take_file(p, args[0], &failure);
	int data_only;

	if (f == NULL)
		return failure;
	if (!get_int(args[1], &data_only))
		return give_back(p, f, 0);
	job = file_job(data_only ? EFILE_FDATASYNC : EFILE_FSYNC, f);
	job->i[1] = 0;
	return efile_submit(p, job, reply_ok);
}

Term bif_prim_file_truncate_nif_1(Process *p, Term *args)
{
	Term failure;
	struct efile *f = take_file(p, args[0], &failure);

	if (f == NULL)
		return failure;
	return efile_submit(p, file_job(EFILE_TRUNCATE, f), reply_ok);
}

/* offset, length to i2, i3. Returns NULL with *failure set. */
static struct efile_job *range_job(Process *p, enum efile_command command, const Term *args, Term *failure)
{
	struct efile_job *job;
	struct efile *f = take_file(p, args[0], failure);
	int64_t offset, length;

	if (f == NULL)
		return NULL;
	if (!term_is_number(args[1]) || !term_is_number(args[2])) {
		*failure = give_back(p, f, 0);
		return NULL;
	}
	if (!get_natural(args[1], &offset) || !get_natural(args[2], &length)) {
		*failure = give_back(p, f, EINVAL);
		return NULL;
	}
	job = file_job(command, f);
	job->i[1] = offset;
	job->i[2] = length;
	return job;
}

Term bif_prim_file_allocate_nif_3(Process *p, Term *args)
{
	Term failure;
	struct efile_job *job = range_job(p, EFILE_ALLOCATE, args, &failure);

	return job == NULL ? failure : efile_submit(p, job, reply_ok);
}

Term bif_prim_file_advise_nif_4(Process *p, Term *args)
{
	static const struct {
		Term atom;
		int advice;
	} advices[] = {
		{ am_normal, POSIX_FADV_NORMAL },        { am_random, POSIX_FADV_RANDOM },
		{ am_sequential, POSIX_FADV_SEQUENTIAL }, { am_will_need, POSIX_FADV_WILLNEED },
		{ am_dont_need, POSIX_FADV_DONTNEED },    { am_no_reuse, POSIX_FADV_NOREUSE },
	};
	Term failure;
	struct efile_job *job = range_job(p, EFILE_FADVISE, args, &failure);
	struct efile *f;

	if (job == NULL)
		return failure;
	for (size_t k = 0; k < sizeof(advices) / sizeof(advices[0]); k++) {
		if (args[3] == advices[k].atom) {
			job->i[3] = advices[k].advice;
			return efile_submit(p, job, reply_ok);
		}
	}
	f = job->file;
	failure = give_back(p, f, EINVAL);
	efile_job_drop(job);
	return failure;
}

Term bif_prim_file_read_handle_info_nif_1(Process *p, Term *args)
{
	struct efile_job *job;
	Term failure;
	struct efile *f = take_file(p, args[0], &failure);

	if (f == NULL)
		return failure;
	job = file_job(EFILE_FSTAT, f);
	job->i[1] = 0;
	return efile_submit(p, job, reply_info);
}

/* ---- names */

static Term submit_path(Process *p, enum efile_command command, Term path, Term other,
			Term (*reply)(Process *p, struct efile_job *job))
{
	int error;
	struct efile_job *job = path_job(command, path, other, &error);

	if (job != NULL && command == EFILE_FSTAT)
		job->i[0] = -1; /* it has no descriptor */
	return job == NULL ? posix_failure(p, error) : efile_submit(p, job, reply);
}

Term bif_prim_file_read_file_nif_1(Process *p, Term *args)
{
	return submit_path(p, EFILE_READ_FILE, args[0], TERM_NONE, reply_data);
}

Term bif_prim_file_read_link_nif_1(Process *p, Term *args)
{
	return submit_path(p, EFILE_READLINK, args[0], TERM_NONE, reply_data);
}

Term bif_prim_file_list_dir_nif_1(Process *p, Term *args)
{
	return submit_path(p, EFILE_READDIR, args[0], TERM_NONE, reply_names);
}

Term bif_prim_file_make_dir_nif_1(Process *p, Term *args)
{
	return submit_path(p, EFILE_MKDIR, args[0], TERM_NONE, reply_ok);
}

Term bif_prim_file_del_file_nif_1(Process *p, Term *args)
{
	return submit_path(p, EFILE_DELETE, args[0], TERM_NONE, reply_ok);
}

Term bif_prim_file_del_dir_nif_1(Process *p, Term *args)
{
	return submit_path(p, EFILE_RMDIR, args[0], TERM_NONE, reply_ok);
}

Term bif_prim_file_set_cwd_nif_1(Process *p, Term *args)
{
	return submit_path(p, EFILE_CHDIR, args[0], TERM_NONE, reply_ok);
}

Term bif_prim_file_altname_nif_1(Process *p, Term *args)
{
	return submit_path(p, EFILE_ALTNAME, args[0], TERM_NONE, reply_data);
}

Term bif_prim_file_rename_nif_2(Process *p, Term *args)
{
	return submit_path(p, EFILE_RENAME, args[0], args[1], reply_ok);
}

Term bif_prim_file_make_hard_link_nif_2(Process *p, Term *args)
{
	return submit_path(p, EFILE_LINK, args[0], args[1], reply_ok);
}

Term bif_prim_file_make_soft_link_nif_2(Process *p, Term *args)
{
	return submit_path(p, EFILE_SYMLINK, args[0], args[1], reply_ok);
}

Term bif_prim_file_read_info_nif_2(Process *p, Term *args)
{
	int follow;

	if (!get_int(args[1], &follow))
		return exc_badarg(p);
	return submit_path(p, follow ? EFILE_FSTAT : EFILE_LSTAT, args[0], TERM_NONE, reply_info);
}

Term bif_prim_file_set_permissions_nif_2(Process *p, Term *args)
{
	struct efile_job *job;
	int64_t mode;
	int error;

	if (!get_natural(args[1], &mode) || mode > UINT_MAX)
		return exc_badarg(p);
	job = path_job(EFILE_WRITE_INFO, args[0], TERM_NONE, &error);
	if (job == NULL)
		return posix_failure(p, error);
	job->i[0] = mode;
	job->i[1] = -1;
	job->i[2] = -1;
	return efile_submit(p, job, reply_ok);
}

Term bif_prim_file_set_owner_nif_3(Process *p, Term *args)
{
	struct efile_job *job;
	int uid, gid, error;

	if (!get_int(args[1], &uid) || !get_int(args[2], &gid))
		return exc_badarg(p);
	job = path_job(EFILE_WRITE_INFO, args[0], TERM_NONE, &error);
	if (job == NULL)
		return posix_failure(p, error);
	job->i[0] = -1;
	job->i[1] = uid;
	job->i[2] = gid;
	return efile_submit(p, job, reply_ok);
}

Term bif_prim_file_set_time_nif_4(Process *p, Term *args)
{
	struct efile_job *job;
	int64_t times[3];
	int error;

	for (int k = 0; k < 3; k++) {
		if (!num_get_int64(args[k + 1], &times[k]))
			return exc_badarg(p);
	}
	job = path_job(EFILE_SET_TIME, args[0], TERM_NONE, &error);
	if (job == NULL)
		return posix_failure(p, error);
	memcpy(job->i, times, sizeof(times));
	return efile_submit(p, job, reply_ok);
}

Term bif_prim_file_get_cwd_nif_0(Process *p, Term *args)
{
	(void)args;
	return efile_submit(p, efile_job_new(EFILE_PWD, NULL), reply_data);
}

/* Drives have directories on another system only. */
Term bif_prim_file_get_device_cwd_nif_1(Process *p, Term *args)
{
	int device;

	return get_int(args[0], &device) ? posix_failure(p, ENOTSUP) : exc_badarg(p);
}

/* ---- how names are written */

Term bif_prim_file_internal_name2native_1(Process *p, Term *args)
{
	struct filename_text path;
	Term native;

	if (!filename_read(&path, args[0], false))
		return exc_badarg(p);
	native = binary_put(&p->heap, path.bytes, path.n + 1);
	filename_text_free(&path);
	return native;
}

Term bif_prim_file_internal_native2name_1(Process *p, Term *args)
{
	uint8_t *scratch = NULL;
	const uint8_t *bytes;
	Term name;
	size_t n;

	if (!term_is_bitstring(args[0]) || !term_is_binary(args[0]))
		return exc_badarg(p);
	bytes = binary_bytes(args[0], &n, &scratch);
	name = filename_put(&p->heap, (const char *)bytes, n);
	mem_free(scratch);
	/* As the default, +fnuw, has it. */
	return name != TERM_NONE ? name : heap_tuple(&p->heap, am_error, am_warning);
}

Term bif_prim_file_is_translatable_1(Process *p, Term *args)
{
	uint8_t *scratch = NULL;
	const uint8_t *bytes;
	bool ok;
	size_t n;

	if (!term_is_bitstring(args[0]) || !term_is_binary(args[0]))
		return exc_badarg(p);
	bytes = binary_bytes(args[0], &n, &scratch);
	ok = !filename_is_utf8() || utf8_valid_prefix(bytes, n, NULL) == n;
	mem_free(scratch);
	return term_from_bool(ok);
}

Term bif_file_native_name_encoding_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return filename_is_utf8() ? am_utf8 : am_latin1;
}
