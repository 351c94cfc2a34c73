/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what was checked is what was opened: a descriptor is asked once more. */
#include "own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { ERR_LINK = -ELOOP, ERR_OTHERS = -EUSERS, ERR_NAMES = -EMLINK, ERR_OTHER = -ESTALE };

static int check(const struct stat *st)
{
    bool is_file = S_ISREG(st->st_mode);

    if ((is_file || S_ISFIFO(st->st_mode)) && st->st_uid != geteuid())
        return ERR_OTHERS;
    return is_file && st->st_nlink > 1 ? ERR_NAMES : 0;
}

int own_file_check(const char *path, struct stat *out)
{
    *out = (struct stat){0};
    if (lstat(path, out))
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISLNK(out->st_mode))
        return check(out);
    return stat(path, out) || S_ISREG(out->st_mode) ? ERR_LINK : 0;
}

/*
 * Whether the descriptor is of a pipe that we were given and that the path leads to (/dev/stdout), whoever made it: the
 * shell of who typed sudo, say.
 */
static bool is_given(const char *path, int fd, const struct stat *st)
{
    struct stat other;

    if (!S_ISFIFO(st->st_mode) || lstat(path, &other) || !S_ISLNK(other.st_mode))
        return false;
    for (int i = 0; i < fd; i++)
        if (!fstat(i, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino)
            return true;
    return false;
}

/* Opens what was checked, and checks what was opened. */
static int open_checked(const char *path, int flags, bool is_file)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags), err;
    struct stat st;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st))
        err = -errno;
    else if (S_ISREG(st.st_mode) != is_file)
        err = ERR_OTHER;
    else
        err = is_given(path, fd, &st) ? 0 : check(&st);
    if (!err && is_file && ftruncate(fd, 0))
        err = -errno;
    if (err)
        close(fd);
    return err ? err : fd;
}

int own_file_open_special(const char *path)
{
    return open_checked(path, 0, false);
}

int own_file_open(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OWN_FILE_MODE), err;
    struct stat st;

    if (fd >= 0 || errno != EEXIST)
        return fd >= 0 ? fd : -errno;
    err = own_file_check(path, &st);
    if (err)
        return err;
    /* Nothing waits for the reader of a pipe that has taken the place of a file. */
    return S_ISREG(st.st_mode) ? open_checked(path, O_NOFOLLOW | O_NONBLOCK, true) : own_file_open_special(path);
}

const char *own_file_error(int err)
{
    switch (err) {
    case ERR_LINK: return "it is a link, which is not followed; name the file itself";
    case ERR_OTHERS: return "it belongs to another user; remove it or choose another name";
    case ERR_NAMES: return "it has other names (hard links); remove it or choose another name";
    case ERR_OTHER: return "something else has taken its place just now; look who does that";
    default: return strerror(-err);
    }
}
