/* SPDX-License-Identifier: Apache-2.0 */
/* What a variant of the build asks of the code, as constants: a condition on them costs nothing where they are
 * false. */
#ifndef VM_BASE_VARIANT_H
#define VM_BASE_VARIANT_H

/* Collect at every chance (large heaps: at some, see heap_is_stressed), two minor collections to a major one: a term
 * that is held across a chance without being a root is found at once, the more so with SAN=address. */
#ifdef ERLVM_GC_STRESS
enum { VARIANT_GC_STRESS = 1 };
#else
enum { VARIANT_GC_STRESS = 0 };
#endif

#ifdef ERLVM_DEBUG
enum { VARIANT_DEBUG = 1 };
#else
enum { VARIANT_DEBUG = 0 };
#endif

/* Behind a `register` variable: keeps it in that register. Only gcc on x86-64 does; elsewhere the compiler chooses. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define VARIANT_PIN(name) __asm__(name)
#else
#define VARIANT_PIN(name)
#endif

/* Calls machine code at `how` with the loop's registers, by their pins; `how` is what it returns. The compiler does not
 * know that the stack must be aligned for it. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define VARIANT_CALL_NATIVE(how, I, E, HTOP, p, x)                                                                     \
	__asm__ volatile("movq %%rsp,%%rcx; andq $-16,%%rsp; subq $16,%%rsp; movq %%rcx,(%%rsp);"                      \
			 "call *%%rax; movq (%%rsp),%%rsp"                                                             \
			 : "+a"(how), "+r"(I), "+r"(E), "+r"(HTOP)                                                     \
			 : "r"(p), "r"(x)                                                                              \
			 : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",       \
			   "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",         \
			   "xmm14", "xmm15", "memory", "cc")
#else
#define VARIANT_CALL_NATIVE(how, I, E, HTOP, p, x) ((how) = 0, (void)(I), (void)(E), (void)(HTOP), (void)(p), (void)(x))
#endif

/* The compiler forgets what it knows of a variable: it stays in one register instead of being derived again. */
#if defined(__GNUC__)
#define VARIANT_OPAQUE(variable) __asm__("" : "+r"(variable))
#else
#define VARIANT_OPAQUE(variable) ((void)0)
#endif

#endif
