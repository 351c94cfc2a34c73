/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the kernel that must not be cut off. It gives up making and removing a uprobe's link in the midst when the
 * caller is killed, and then leaves the trap in every process that has it, and its semaphore raised ("leaking uprobe").
 * When a process ends of itself or is killed at another time, all of its links go.
 */
#ifndef TOOLS_APART_H
#define TOOLS_APART_H

/*
 * Calls it in a process that shares this one's memory and descriptors, while this thread waits; who kills this process
 * does not end that one. `call` takes no lock and no memory: a thread that was killed may hold them. Where no process
 * can be made it is called here. Returns what it returns.
 */
int apart_call(int (*call)(void *ctx), void *ctx);

#endif
