/* SPDX-License-Identifier: Apache-2.0 */
/* Source: capabilities(7); ptrace(2), access mode checking. */
#include "rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool rights_have(int capability)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

    return !syscall(SYS_capget, &header, data) && data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

const char *rights_explain(int err)
{
    if (err != -EACCES && err != -EPERM)
        return strerror(-err);
    if (!rights_have(CAP_SYS_PTRACE))
        return "CAP_SYS_PTRACE is missing";
    return rights_have(CAP_DAC_READ_SEARCH) || rights_have(CAP_DAC_OVERRIDE)
               ? strerror(-err)
               : "its permissions refuse us, and CAP_DAC_READ_SEARCH is missing";
}
