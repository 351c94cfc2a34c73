/* SPDX-License-Identifier: Apache-2.0 */
/* The crash dump: what the VM knows, as a text that OTP's crashdump_viewer reads. ERL_CRASH_DUMP names the file
 * (default erl_crash.dump); ERL_CRASH_DUMP_SECONDS: 0 writes none, N > 0 ends the VM after so long, otherwise there is
 * no bound; ERL_CRASH_DUMP_BYTES: no more bytes than that, 0 writes none. */
#ifndef VM_DUMP_CRASH_DUMP_H
#define VM_DUMP_CRASH_DUMP_H

/* Stops the world and writes the dump; the world stays stopped. Once only: later calls, and those while one is under
 * way, wait for the end. */
void crash_dump_write(const char *slogan);

/* ---- sections of it, to where dump_open said */
void crash_dump_memory(void);
/* A native's: each process is looked at at a moment of its own (process_each_in_parts). */
void crash_dump_nodes_in_parts(void);
/* While the world is stopped. */
void crash_dump_processes(void);
void crash_dump_ports(void);
void crash_dump_tables(void);
void crash_dump_modules(void);
void crash_dump_nodes(void);

#endif
