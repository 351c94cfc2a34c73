/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that erlsnoop fills, often as root and in folders that others write to: it makes them for its user alone,
 * follows no link to a file, and fills none that others own. Pipes and devices are filled as they are, through links,
 * too (/dev/stdout).
 */
#ifndef TOOLS_OWN_FILE_H
#define TOOLS_OWN_FILE_H

#include <sys/stat.h>

enum { OWN_FILE_MODE = 0600 }; /* of a new one */

/*
 * What stands at the path, where that may be filled or replaced: out->st_mode is 0 when nothing does, and says what a
 * link leads to when that is no regular file. Fails: own_file_error tells.
 */
int own_file_check(const char *path, struct stat *out);
/* Opens it for writing, empty, made when it is not there. Returns its descriptor; fails: own_file_error tells. */
int own_file_open(const char *path);
/* The same for what own_file_check said is no file; a pipe waits for its reader. */
int own_file_open_special(const char *path);
/* Why the three failed; of other failures, strerror. */
const char *own_file_error(int err);

#endif
