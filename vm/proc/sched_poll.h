/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that schedulers wait for themselves: who has nothing to do sleeps in epoll_wait, so that what becomes
 * ready needs no other thread to be told. One scheduler polls at a time; the others that have nothing to do sleep as
 * ever. Who is busy looks now and then, when nobody polls.
 * Invariant: events are dealt with by who polls, between two of its time slices, before another may poll. While
 * descriptors are watched and nobody polls, a scheduler is awake, and looks before it sleeps. */
#ifndef VM_PROC_SCHED_POLL_H
#define VM_PROC_SCHED_POLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

void sched_poll_init(void);
/* Wired by io/poll.c: deals with n events. On a scheduler, between two time slices. */
extern void (*sched_poll_dispatch)(const struct epoll_event *events, int n);

/* ---- for io/poll.c: any thread */

/* The set of epoll; descriptors are added, changed and deleted there. */
int sched_poll_fd(void);
/* data.u64 of an event that tells of no descriptor: who polls was woken. */
#define SCHED_POLL_WAKE UINT64_MAX
/* So many more, or less, are to be waited for. */
void sched_poll_count(int more);

/* ---- for schedulers */

/* Takes the turn to poll. Fails: false when another has it, or nothing is watched. */
bool sched_poll_begin(void);
/* Whoever began: looks what is ready, without waiting. Returns whether something is. */
bool sched_poll_look(void);
/* The same, but sleeps until something is ready, sched_poll_wake, or the deadline. Outside of the world.
 * Units: CLOCK_MONOTONIC; 0: none. */
void sched_poll_sleep(int64_t deadline_ns);
/* Whoever began: deals with what was found, in the world, and gives the turn back. */
void sched_poll_end(void);
/* Ends the sched_poll_sleep of who polls now, or its next one. Any thread. */
void sched_poll_wake(void);
/* All of these in one, without waiting: for who is busy. */
void sched_poll_now(void);
/* Is something watched while nobody polls? */
bool sched_poll_is_vacant(void);
/* The same, and nobody has polled since the last call. For one thread. */
bool sched_poll_is_forgotten(void);

#endif
