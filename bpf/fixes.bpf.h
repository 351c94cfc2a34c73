/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drift of kernels and compilers, quarantined: nothing outside knows of it. What a kernel must have is in
 * tools/probe/kernel_needs.def.
 */
#ifndef BPF_FIXES_BPF_H
#define BPF_FIXES_BPF_H

/*
 * One field of the context at a constant offset. In plain C, clang (14 to 19) joins loads of
 * several fields into one at a variable offset, which no verifier accepts on a context.
 */
#define FIXES_CTX_LOAD(ctx, field)                                                                 \
    ({                                                                                             \
        __u64 fixes_value;                                                                         \
        asm volatile("%0 = *(u64 *)(%1 + %2)"                                                      \
                     : "=r"(fixes_value)                                                           \
                     : "r"(ctx), "i"(__builtin_offsetof(struct pt_regs, field)));                  \
        fixes_value;                                                                               \
    })

/*
 * A function that the kernel verifies once, by itself, and not at each call. It then asks for all arguments at each
 * call; clang (19 to 21) leaves out those that the body does not read, unless another body might be linked in its
 * place.
 */
#define FIXES_GLOBAL __attribute__((noinline, weak))

/* Whether the running kernel has the field, of a struct of vmlinux.h. */
#define FIXES_FIELD_EXISTS(field) __builtin_preserve_field_info(field, 2 /* BPF_FIELD_EXISTS */)

/* Keeps clang from proving away a bound that the verifier needs to see. */
#define FIXES_OPAQUE(var) asm volatile("" : "+r"(var))

#endif
