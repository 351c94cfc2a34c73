/* SPDX-License-Identifier: Apache-2.0 */
#include "otp_threads.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "otp_schedulers.h"

#include "../../bpf/stacks.h"

int otp_threads_put(struct memory *memory, const struct otp_layout *layout, struct otp_symbols *symbols, uint32_t slot,
                    int map)
{
    struct otp_scheduler *schedulers = NULL;
    size_t n = 0;
    int err = -ESRCH;

    if (memory)
        err = otp_schedulers_find(memory_file(memory), otp_symbols_image(symbols), layout, &schedulers, &n);
    for (size_t i = 0; !err && i < n; i++) {
        struct stacks_thread_key key = {.fs_base = schedulers[i].thread, .vm = layout->vm};
        struct stacks_thread thread = {
            .scheduler = schedulers[i].data, .top = schedulers[i].registers, .slot = slot};

        if (bpf_map_update_elem(map, &key, &thread, BPF_ANY))
            err = -errno;
    }
    free(schedulers);
    return err;
}
