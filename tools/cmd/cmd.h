/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands. Each parses its own line (argv[0] is its name). Returns 0 or another exit status, or a failure that
 * was said. */
#ifndef TOOLS_CMD_H
#define TOOLS_CMD_H

#define CMD(name, text) int cmd_##name(int argc, char **argv);
#include "cmds.def"

#endif
