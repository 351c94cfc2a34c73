// SPDX-License-Identifier: Apache-2.0
/*
 * Native functions of one argument, of each kind that ways of being called differ for. All but those that fail return
 * their argument.
 */
#include <time.h>

#include "erl_nif.h"

enum { LASTS_NS = 2000000, FOR_EVER_S = 60 };

static ERL_NIF_TERM plain(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return argv[0];
}

static ERL_NIF_TERM fails(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_badarg(env);
}

static ERL_NIF_TERM lasts(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    nanosleep(&(struct timespec){0, LASTS_NS}, NULL);
    return argv[0];
}

static ERL_NIF_TERM for_ever(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    nanosleep(&(struct timespec){FOR_EVER_S, 0}, NULL);
    return argv[0];
}

/* It has another called in its place: on an ordinary scheduler, or on a dirty one. */
static ERL_NIF_TERM yields(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_schedule_nif(env, "yielded", 0, plain, argc, argv);
}

static ERL_NIF_TERM goes_dirty(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_schedule_nif(env, "gone_dirty", ERL_NIF_DIRTY_JOB_CPU_BOUND, lasts, argc, argv);
}

static ErlNifFunc functions[] = {
    {"plain", 1, plain, 0},
    {"fails", 1, fails, 0},
    {"lasts", 1, lasts, 0},
    {"yields", 1, yields, 0},
    {"goes_dirty", 1, goes_dirty, 0},
    {"dirty_cpu", 1, lasts, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"dirty_io", 1, lasts, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"dirty_fails", 1, fails, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"dirty_yields", 1, yields, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"dirty_stays", 1, goes_dirty, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"dirty_for_ever", 1, for_ever, ERL_NIF_DIRTY_JOB_IO_BOUND},
};

ERL_NIF_INIT(stock_nif, functions, NULL, NULL, NULL, NULL)
