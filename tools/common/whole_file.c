/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: after whole_file_end nothing is left beside the file, whatever failed. */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "own_file.h"

static int complain(const struct whole_file *f, int err)
{
    return fail(err, "cannot write '%s': %s", f->name, own_file_error(err));
}

/* Whether the file may be written, and others be made beside it. */
static int check_regular(const struct whole_file *f)
{
    char copy[PATH_MAX];

    if (!access(f->path, F_OK) && access(f->path, W_OK))
        return -errno;
    strcpy(copy, f->path);
    return access(dirname(copy), W_OK | X_OK) ? -errno : 0;
}

int whole_file_open(struct whole_file *f, const char *name)
{
    struct stat st;
    bool special;
    int err;

    *f = (struct whole_file){.name = name, .special = -1};
    if (!name)
        return 0;
    if (!*name)
        return complain(f, -ENOENT);
    if (strlen(name) >= sizeof f->path)
        return complain(f, -ENAMETOOLONG);
    err = own_file_check(name, &st);
    if (err)
        return complain(f, err);
    strcpy(f->path, name);
    special = st.st_mode && !S_ISREG(st.st_mode);
    if (special) /* now: a pipe waits for its reader */
        f->special = own_file_open_special(name);
    err = !special ? check_regular(f) : f->special < 0 ? f->special : 0;
    return err ? complain(f, err) : 0;
}

FILE *whole_file_begin(struct whole_file *f)
{
    f->file = open_memstream(&f->bytes, &f->size);
    return f->file;
}

/* A new file has the rights of the one it replaces. */
static mode_t mode_for(const char *path)
{
    struct stat st;

    return !lstat(path, &st) && S_ISREG(st.st_mode) ? st.st_mode & 0777 : OWN_FILE_MODE;
}

static int write_all(int fd, const char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = write(fd, bytes + done, size - done);

        if (got < 0)
            return -errno;
        done += (size_t)got;
    }
    return 0;
}

static int replace(const struct whole_file *f)
{
    char beside[PATH_MAX + 8];
    int fd, err;

    snprintf(beside, sizeof beside, "%s.XXXXXX", f->path);
    fd = mkostemp(beside, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    err = write_all(fd, f->bytes, f->size);
    if (!err && fchmod(fd, mode_for(f->path)))
        err = -errno;
    if (close(fd) && !err)
        err = -errno;
    if (!err && rename(beside, f->path))
        err = -errno;
    if (err)
        unlink(beside);
    return err;
}

int whole_file_end(struct whole_file *f, int err)
{
    if (f->file && fclose(f->file) && !err)
        err = -errno;
    if (!err)
        err = f->special >= 0 ? write_all(f->special, f->bytes, f->size) : replace(f);
    if (f->special >= 0)
        close(f->special);
    free(f->bytes);
    f->file = NULL;
    f->bytes = NULL;
    return err ? complain(f, err) : 0;
}
