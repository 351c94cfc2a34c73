/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links of a program to places in a file, in the two ways that kernels have: many at once
 * (6.10 and later, 6.6 and 6.9 as mended, cheaper to make and to hit), or each through a perf event.
 */
#ifndef TOOLS_UPROBE_H
#define TOOLS_UPROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* expected_attach_type of programs for uprobe_link_many: BPF_TRACE_UPROBE_MULTI of linux/bpf.h. */
enum { UPROBE_ATTACH_MANY = 48 };

struct uprobe_place {
    uint64_t offset, semaphore; /* in the file; semaphore 0: none */
    uint64_t cookie;
};

/*
 * Whether the kernel has links of many places that count every thread of a process: the first to have them (6.6 to 6.9,
 * until it was mended in each) count that thread alone whose number is the process's.
 */
bool uprobe_has_many(void);
/*
 * `pid` -1: every process that maps the file. `returns`: the places are entries of functions,
 * whose returns are meant. Return a descriptor of the link, or -errno.
 */
int uprobe_link_many(int program, const char *path, int pid, bool returns, const struct uprobe_place *places, size_t n);
int uprobe_link_one(int program, const char *path, int pid, bool returns, const struct uprobe_place *place);
/*
 * The processor time that a trap takes from the thread that runs into it, what the program does left out; 0: it cannot
 * be tried. It is, on the thread that asks.
 */
uint64_t uprobe_trap_ns(void);
/*
 * Waits until the kernel may remove traps at once. It forgets what a trap is for, waits for all processors (10 to 50
 * ms), and removes the trap: threads that run into it meanwhile pay for that, and no program counts them. It does not
 * wait again soon after it has: so a trap of this process goes first. Source: percpu_down_write(&dup_mmap_sem) in
 * kernel/events/uprobes.c, rcu_sync_enter in kernel/rcu/sync.c of Linux. False: no such trap could be set, and the
 * kernel waits in the midst.
 */
bool uprobe_settle(void);
/*
 * Whether a process whose system calls are filtered (seccomp) outlives a probe at the return of a function. Kernels
 * 6.11 to 6.13 end such a probe with a system call that the process makes itself, and the filter may kill it for that.
 * Tried on a child.
 */
bool uprobe_returns_pass_filters(void);

#endif
