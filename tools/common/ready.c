/* SPDX-License-Identifier: Apache-2.0 */
#include "ready.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

void ready_notify(int fd)
{
    if (fd < 0)
        return;
    if (write(fd, "\n", 1) != 1 && errno != EPIPE)
        note("cannot write to --ready-fd %d: %s", fd, strerror(errno));
    if (fd > STDERR_FILENO)
        close(fd);
}
