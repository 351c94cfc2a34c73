/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whoever waits for it that every probe is on: what happens from now on is seen. */
#ifndef TOOLS_READY_H
#define TOOLS_READY_H

/* Writes a byte to the descriptor, and closes it where it is no standard one. fd -1: nothing. */
void ready_notify(int fd);

#endif
