/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native side of a process's stacks: unwinding by the call frame information of its ELF files,
 * and names of functions from their symbols or separate debug files (debuginfod, when the user's
 * environment names servers); and the kernel's names.
 */
#ifndef TOOLS_NATIVE_H
#define TOOLS_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NATIVE_NREGS = 16, NATIVE_FRAMES = 64 };

/* A thread as it stood: registers in the order of x86-64's encoding, and a copy of its stack. */
struct native_thread {
    const uint64_t *regs;
    uint64_t ip;
    uint64_t stack_at; /* address of stack[0] */
    const uint64_t *stack;
    size_t nstack;
    const char *until; /* a function whose frame ends the stack, as code of no file does; NULL: none */
};

struct native_stack {
    uint64_t frames[NATIVE_FRAMES]; /* addresses in ELF files, the leaf first */
    size_t n;
    uint64_t outer_ip; /* where code of no file called them, e.g. of a JIT, or `until` did; 0: not reached */
    uint64_t outer[NATIVE_NREGS]; /* its registers, 0 where they are not known */
};

struct native;

/* Owns: free with native_free. Fails: -errno. No message. */
int native_new(int pid, struct native **out);
void native_free(struct native *native);
void native_unwind(struct native *native, const struct native_thread *thread, struct native_stack *out);
/*
 * From now on a function without a symbol that begins at an address is called what `name` says, NULL: nothing. The text
 * is good until its next call.
 */
void native_fall_back(struct native *native, const char *(*name)(void *ctx, uint64_t begin), void *ctx);
/*
 * "malloc", or where the function begins in its file, "beam.smp+0x1f40", when it has no symbol; `caller`: the address
 * is a return address.
 */
void native_name(struct native *native, uint64_t address, bool caller, char *out, size_t size);

/* A name of C++ as it is written there, without its parameters; any other, or one that is too intricate, as it is. */
void native_demangle(const char *name, char *out, size_t size);

/* "vfs_read_[k]"; "[kernel]" when /proc/kallsyms tells no addresses. */
const char *native_kernel_name(uint64_t address);
void native_kernel_free(void);

#endif
