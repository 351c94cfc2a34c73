/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only probe assembly: turns the rows of probes.def into USDT notes of provider `erlang`.
 *
 *   if (PROBE_ON(process__spawn))            at the site: one load and one branch never taken
 *       probe_process__spawn(p, mfa);        cold: makes the strings and holds the note
 *
 *   PROBE_COLD void probe_process__spawn(...)
 *   {
 *       ...
 *       PROBE_FIRE(process__spawn, pid, mfa);
 *   }
 *
 * Invariant: PROBE_FIRE of a name appears once in the program, so that each probe has one note;
 * every argument of the note is in a register, with the type that probes.def gives it.
 *
 * What holds a probe site must be compiled with -mno-red-zone: the 5-byte nop is turned by
 * kernels since 6.18 into a call, which pushes onto the stack of the probed thread.
 *
 * Build: ERLVM_PROBES=0 leaves no trace of any probe; USDT_NOP=1 makes a site a 1-byte nop.
 */
#ifndef VM_USDT_H
#define VM_USDT_H

#include <stdint.h>

#ifndef ERLVM_PROBES
#define ERLVM_PROBES 1
#endif

/* Out of the way of who calls it, yet not `cold`: that would have it made small instead of fast. */
#ifdef __clang__
#define PROBE_COLD __attribute__((noinline))
#else
#define PROBE_COLD __attribute__((noinline, noclone))
#endif

/* The C type of each argument, and how many a probe has. */
typedef const char *probe_type_STR;
typedef int probe_type_INT;
typedef int64_t probe_type_I64;

#define ARG(probe, index, arg, type, unit) typedef probe_type_##type probe_arg_##probe##_##index;
#include "probes.def"

enum probe_nargs {
#define PROBE(probe, family, nargs, watch, text) PROBE_NARGS_##probe = nargs,
#define PROBE_RANGE(prefix, family, nargs, first, last, text)                                      \
    PROBE_NARGS_##prefix = nargs, PROBE_FIRST_##prefix = first, PROBE_LAST_##prefix = last,
#include "probes.def"
};

/* PROBE_FIRE(probe, args...): arguments convert as in assignment, so a wrong type is a warning. */
#define PROBE_FIRE(probe, ...)                                                                     \
    PROBE_FIRE_COUNTED(PROBE_COUNT(__VA_ARGS__), probe, __VA_ARGS__)
#define PROBE_FIRE_COUNTED(n, probe, ...) PROBE_FIRE_N(n, probe, __VA_ARGS__)
#define PROBE_FIRE_N(n, probe, ...)                                                                \
    do {                                                                                           \
        _Static_assert((n) == PROBE_NARGS_##probe, #probe ": wrong number of arguments");          \
        PROBE_LOCALS_##n(probe, __VA_ARGS__)                                                       \
        PROBE_EMIT(n, probe);                                                                      \
    } while (0)

#define PROBE_COUNT(...) PROBE_COUNT_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PROBE_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, n, ...) n

#define PROBE_LOCAL(p, n, x) __attribute__((unused)) probe_arg_##p##_##n probe_a##n = (x);
#define PROBE_LOCALS_1(p, a) PROBE_LOCAL(p, 0, a)
#define PROBE_LOCALS_2(p, a, b) PROBE_LOCALS_1(p, a) PROBE_LOCAL(p, 1, b)
#define PROBE_LOCALS_3(p, a, b, c) PROBE_LOCALS_2(p, a, b) PROBE_LOCAL(p, 2, c)
#define PROBE_LOCALS_4(p, a, b, c, d) PROBE_LOCALS_3(p, a, b, c) PROBE_LOCAL(p, 3, d)
#define PROBE_LOCALS_5(p, a, b, c, d, e) PROBE_LOCALS_4(p, a, b, c, d) PROBE_LOCAL(p, 4, e)
#define PROBE_LOCALS_6(p, a, b, c, d, e, f) PROBE_LOCALS_5(p, a, b, c, d, e) PROBE_LOCAL(p, 5, f)
#define PROBE_LOCALS_7(p, a, b, c, d, e, f, g)                                                     \
    PROBE_LOCALS_6(p, a, b, c, d, e, f) PROBE_LOCAL(p, 6, g)
#define PROBE_LOCALS_8(p, a, b, c, d, e, f, g, h)                                                  \
    PROBE_LOCALS_7(p, a, b, c, d, e, f, g) PROBE_LOCAL(p, 7, h)
#define PROBE_LOCALS_9(p, a, b, c, d, e, f, g, h, i)                                               \
    PROBE_LOCALS_8(p, a, b, c, d, e, f, g, h) PROBE_LOCAL(p, 8, i)
#define PROBE_LOCALS_10(p, a, b, c, d, e, f, g, h, i, j)                                           \
    PROBE_LOCALS_9(p, a, b, c, d, e, f, g, h, i) PROBE_LOCAL(p, 9, j)
#define PROBE_LOCALS_11(p, a, b, c, d, e, f, g, h, i, j, k)                                        \
    PROBE_LOCALS_10(p, a, b, c, d, e, f, g, h, i, j) PROBE_LOCAL(p, 10, k)
#define PROBE_LOCALS_12(p, a, b, c, d, e, f, g, h, i, j, k, l)                                     \
    PROBE_LOCALS_11(p, a, b, c, d, e, f, g, h, i, j, k) PROBE_LOCAL(p, 11, l)

#define PROBE_VARS_1 probe_a0
#define PROBE_VARS_2 PROBE_VARS_1, probe_a1
#define PROBE_VARS_3 PROBE_VARS_2, probe_a2
#define PROBE_VARS_4 PROBE_VARS_3, probe_a3
#define PROBE_VARS_5 PROBE_VARS_4, probe_a4
#define PROBE_VARS_6 PROBE_VARS_5, probe_a5
#define PROBE_VARS_7 PROBE_VARS_6, probe_a6
#define PROBE_VARS_8 PROBE_VARS_7, probe_a7
#define PROBE_VARS_9 PROBE_VARS_8, probe_a8
#define PROBE_VARS_10 PROBE_VARS_9, probe_a9
#define PROBE_VARS_11 PROBE_VARS_10, probe_a10
#define PROBE_VARS_12 PROBE_VARS_11, probe_a11

#if ERLVM_PROBES

#define _SDT_HAS_SEMAPHORES 1
/* "r" alone: any consumer can parse a register, and reads it without touching user memory. */
#define STAP_SDT_ARG_CONSTRAINT r
#include <sys/sdt.h>

#if !defined(USDT_NOP) || USDT_NOP != 1
#undef _SDT_NOP
#define _SDT_NOP .byte 0x0f; .byte 0x1f; .byte 0x44; .byte 0; .byte 0
#endif

/* Who watches a probe, as the kernel counts them: the two semaphores stand in one word, so that a site asks with one
 * compare. */
union probe_semaphores {
    struct {
        unsigned short notes;   /* of the note of provider erlang, which tells with texts */
        /* of provider erlang_batch: the event is written into the thread's batch (proc/batch.h) */
        unsigned short batches;
    };
    uint32_t both;
};

#define PROBE(probe, family, nargs, watch, text)                                                          \
    extern union probe_semaphores erlang_##probe##_semaphore                                       \
        __attribute__((visibility("hidden")));
#include "probes.def"

/* The empty asm makes the compiler read afresh what the kernel counts, in one compare with memory. */
#define PROBE_READ(probe, which)                                                                   \
    ({                                                                                             \
        __asm__ volatile("" : "+m"(erlang_##probe##_semaphore));                                   \
        erlang_##probe##_semaphore.which;                                                          \
    })
#define PROBE_ON(probe) __builtin_expect(PROBE_READ(probe, both) != 0, 0)
#define PROBE_NOTES(probe) PROBE_READ(probe, notes)
#define PROBE_BATCHES(probe) PROBE_READ(probe, batches)
/* Only its batches are watched, as by erlsnoop. */
#define PROBE_BATCHES_ONLY(probe)                                                                  \
    ({                                                                                             \
        union probe_semaphores probe_now = {.both = PROBE_READ(probe, both)};                      \
        probe_now.batches != 0 && probe_now.notes == 0;                                            \
    })
#define PROBE_EMIT(n, probe) PROBE_STAP(n, probe, PROBE_VARS_##n)
#define PROBE_STAP(n, probe, ...) STAP_PROBE##n(erlang, probe, __VA_ARGS__)

#else

#define PROBE_ON(probe) ((void)PROBE_NARGS_##probe, 0)
#define PROBE_NOTES(probe) 0
#define PROBE_BATCHES(probe) 0
#define PROBE_BATCHES_ONLY(probe) 0
#define PROBE_EMIT(n, probe) ((void)0)

#endif

#endif
