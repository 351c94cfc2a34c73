/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that end us: INT, TERM, and HUP where it was not ignored. The first asks for an end with the last result;
 * one more ends the process at once, whatever it does. What comes within a tenth of a second is one: timeout(1) sends
 * twice.
 */
#ifndef TOOLS_SIGNALS_H
#define TOOLS_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * From here on they are caught. Returns a descriptor that can be read once one came, each time the same, and not the
 * caller's to close; or -errno.
 */
int signals_open(void);
/* on: nothing is watched yet, so the first ends the process as it ends one that does not catch it. */
void signals_end_at_once(bool on);
/* Waits until one came, so long at most. Returns whether one came. */
bool signals_wait(uint64_t ns);
/* When the first came (CLOCK_MONOTONIC); 0: none did. */
uint64_t signals_first_ns(void);

#endif
