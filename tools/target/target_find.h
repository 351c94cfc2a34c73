/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one VM that is meant, by what the command line says of it.
 */
#ifndef TOOLS_TARGET_FIND_H
#define TOOLS_TARGET_FIND_H

/*
 * name: as `erlsnoop list` prints it, or what stands before the @ of a node's name; NULL: the only VM there is.
 * Fails (said): there is none, or several.
 */
int target_find(const char *name, int *pid);

#endif
