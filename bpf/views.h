/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What views.def says, for both sides: numbers of views, members of rows, states and records.
 *   struct row_<view>_<table>, struct state_<view>_<state>, struct told_<view>_<event>
 */
#ifndef BPF_VIEWS_H
#define BPF_VIEWS_H

#include "efile.h"
#include "inet.h"
#include "event.h"

enum { USER_INTS = 4, USER_TEXTS = 4, USER_TEXT_BYTES = 64 };

/* What Erlang code told: texts are cut and terminated, empty when there is none; untrusted bytes. */
struct user_story {
    __s64 ints[USER_INTS];
    char texts[USER_TEXTS][USER_TEXT_BYTES];
    __u64 has_ints; /* 0: a text alone */
};
_Static_assert(sizeof(struct ev_user_trace__i4s4) ==
                       __builtin_offsetof(struct ev_user_trace__i4s4, s1) + USER_TEXTS * sizeof(struct ev_text) &&
                   __builtin_offsetof(struct ev_user_trace__i4s4, s1) ==
                       __builtin_offsetof(struct ev_user_trace__i4s4, i1) + USER_INTS * sizeof(__s64),
               "a story has other numbers or texts");
_Static_assert(__builtin_offsetof(struct ev_efile_drv__entry, port) ==
                   __builtin_offsetof(struct ev_efile_drv__entry, i1) + EFILE_INTS * sizeof(__s64),
               "an operation has other numbers");

/* Room for a struct name_text in a state: a program's stack has too little. */
struct view_room {
    __u64 words[WIRE_NAME_BYTES / 8 + 1];
};

/* How a call ends, by REQUESTS_END(NAME, text). */
#define REQUESTS_ENDS(REQUESTS_END) \
    REQUESTS_END(ANSWERED, "answered") \
    REQUESTS_END(GAVE_UP, "timeout") \
    REQUESTS_END(TOO_LATE, "too late") /* the reply; the caller had given up, or ended */ \
    REQUESTS_END(SERVER_GONE, "server gone") \
    REQUESTS_END(CALLER_GONE, "caller gone") \
    REQUESTS_END(SERVED, "served") /* it was of another node */
enum requests_end {
#define REQUESTS_END_ENUM(name, text) REQUESTS_##name,
    REQUESTS_ENDS(REQUESTS_END_ENUM)
#undef REQUESTS_END_ENUM
    REQUESTS_GOES_ON
};

#define VIEW_UNKNOWN (~0ull) /* a number of a record that is not known */

/*
 * Where the state of a process stands that is kept for it: in its place of an array, or in a hash beside it. The low
 * bits of `owner` say how many processes of this place stand in the hash; above is whose the place is, 0: nobody's.
 */
enum { VIEW_PLACE_MORE = (1 << 20) - 1 };
#define VIEW_PLACE_OF(type)                                                                        \
    __u64 owner;                                                                                   \
    type state; /* zeros while the place is nobody's */                                            \
    __u64 vm;   /* of the process; 0 until whoever took the place has written it */

/*
 * Constants of the states, in section .rodata.places. The secret is drawn anew for each session: a VM that knew it
 * could make ids of processes that are taken for those of another VM.
 */
struct view_places {
    __u64 secret; /* odd */
    __u32 mask; /* so many places less one; a power of two */
};

/* In the `owner` of a place: tells a process from all others of it, but for one pair in 2^43; never 0. */
static inline __u64 view_who_of(ev_id id, __u64 vm, __u64 secret)
{
    return ((id * 0x9e3779b97f4a7c15ull ^ vm * secret) & ~(__u64)VIEW_PLACE_MORE) | (VIEW_PLACE_MORE + 1);
}

/* The number of a process's place, before it is cut to how many there are. VMs stand apart. */
static inline __u32 view_place_number(ev_id id, __u64 vm)
{
    return ev_id_number(id) + (__u32)vm * 0x9e3779b1u;
}

/* A process, and where its source finds it: ev_head.where. Zeros: not known. */
struct view_whom {
    ev_id id;
    __u64 where;
};

/*
 * What the kernel has counted by now of the thread that an event is told on. thread 0: it is not known, as of events
 * that come by pages.
 */
struct view_thread {
    __u64 thread;    /* its ids */
    __u64 cpu_ns;    /* it ran, up to the kernel's last look, which may be a tick ago */
    __u64 queued_ns; /* it waited for a processor */
    __u64 sleeps;    /* how often it gave one up */
};

/* Kinds of schedulers, by SCHEDULER(NAME, text). */
#define VIEW_SCHEDULERS(SCHEDULER) \
    SCHEDULER(NORMAL, "normal schedulers") \
    SCHEDULER(DIRTY_CPU, "dirty CPU schedulers") \
    SCHEDULER(DIRTY_IO, "dirty I/O schedulers")
enum view_scheduler {
#define VIEW_SCHEDULER_ENUM(name, text) VIEW_SCHEDULER_##name,
    VIEW_SCHEDULERS(VIEW_SCHEDULER_ENUM)
#undef VIEW_SCHEDULER_ENUM
};

/* Where: above the address the number of the VM's layout. */
#define VIEW_WHERE_ADDRESS ((1ull << 48) - 1)

enum view_id {
#define VIEW(view, family, text, what) VIEW_##view,
#define HELPER(view, family) VIEW_##view,
#include "views.def"
    VIEW_COUNT
};

enum view_filter_id {
#define FILTER(view, filter, unit, text) VIEW_FILTER_##view##_##filter,
#include "views.def"
    VIEW_NFILTERS
};

enum view_slowest_id {
#define SLOWEST(view, event, json, title, by, most, shown) VIEW_SLOWEST_##view##_##event,
#include "views.def"
    VIEW_NSLOWEST
};

/* Kinds of records: wire_header.kind. */
enum view_record {
    VIEW_RECORD_NONE = WIRE_RESOLVE,
#define EVENT(view, event, json) VIEW_RECORD_##view##_##event,
#include "views.def"
    VIEW_NRECORDS
};

/* Words of LABEL columns are numbered from 0 in the order of the row. */

#define VIEW_KEY_TOTAL
#define VIEW_KEY_NAME struct wire_name name;
#define VIEW_KEY_OWNER struct wire_name name;
#define VIEW_KEY_REASON struct wire_name name;
#define VIEW_KEY_PORT struct wire_name name;
#define VIEW_KEY_NUMBER
#define VIEW_MEMBER_COUNTER(of) __u64 of;
#define VIEW_MEMBER_HIST(of) struct wire_hist of;
#define VIEW_MEMBER_RATE(of)
#define VIEW_MEMBER_SHARE(of)
#define VIEW_MEMBER_P50(of)
#define VIEW_MEMBER_P99(of)
#define VIEW_MEMBER_P999(of)
#define VIEW_MEMBER_MAX(of)
#define VIEW_MEMBER_COUNT(of)
#define VIEW_MEMBER_SUM(of)
#define VIEW_MEMBER_PART(of)
#define VIEW_MEMBER_VM(of)
#define VIEW_MEMBER_KEY(of)
#define VIEW_FIELD_TIME(key)
#define VIEW_FIELD_VM(key)
#define VIEW_FIELD_PID(key) ev_id key;
#define VIEW_FIELD_LABEL(key) __u32 key;
#define VIEW_FIELD_NS(key) __u64 key;
#define VIEW_FIELD_COUNT(key) __u64 key;
#define VIEW_FIELD_WORDS(key) __u64 key;
#define VIEW_FIELD_NAME(key) struct wire_name key;
#define VIEW_FIELD_MADE(key)
#define VIEW_FIELD_STEP_TIME(key)
#define VIEW_FIELD_STEP(key)
#define VIEW_FIELD_AFTER(key)
#define VIEW_FIELD_STEP_TEXT(key)

struct view_none {
#define STATE(view, state, of)                                                                     \
    }                                                                                              \
    ;                                                                                              \
    struct state_##view##_##state {
#define FIELD(view, state, type, member) type member;
#define TABLE(view, table, json, title, key, size, top)                                            \
    }                                                                                              \
    ;                                                                                              \
    struct row_##view##_##table {                                                                  \
        VIEW_KEY_##key
#define COL(view, table, key, kind, of, unit, head, width, text) VIEW_MEMBER_##kind(of)
#define EVENT(view, event, json)                                                                   \
    }                                                                                              \
    ;                                                                                              \
    struct told_##view##_##event {                                                                 \
        struct wire_header header;
#define MEMBER(view, event, type, member) type member;
#define ATTR(view, event, key, kind, texts, head, width) VIEW_FIELD_##kind(key)
#include "views.def"
};

/* What is kept for SLOWEST, in no order. */
#define SLOWEST(view, event, json, title, by, most, shown)                                         \
    struct slowest_##view##_##event {                                                              \
        __u64 floor; /* the least value of them: what has no more is none of them */               \
        struct {                                                                                   \
            __u64 value; /* 0: there is none */                                                    \
            __u64 taken; /* it is being written */                                                 \
            struct told_##view##_##event told;                                                     \
        } at[most];                                                                                \
    };
#include "views.def"

/* What processes are told apart by in tables by OWNER: who they are; their pids; what they were to do. */
#define VIEW_BYS(BY) BY(owner, OWNER) BY(pid, PID) BY(mfa, MFA)
enum view_by {
#define VIEW_BY_ENUM(name, upper) VIEW_BY_##upper,
    VIEW_BYS(VIEW_BY_ENUM)
#undef VIEW_BY_ENUM
};

/* Read-only settings of the session, in section .rodata.views. */
struct view_settings {
    __u32 on[VIEW_COUNT];     /* the view is asked for */
    __u32 events[VIEW_COUNT]; /* and its records are */
    __u64 filters[VIEW_NFILTERS + 1];
    __u64 slowest[VIEW_NSLOWEST]; /* so many are kept */
    __u64 by;    /* enum view_by */
    __u64 by_vm; /* TOTAL tables have a row for each VM, VIEW_VMS of them; what has none is in the row for all */
};

enum { VIEW_VMS = 1024 };

/* Keys of tables by NAME and by NUMBER are struct wire_name_key, kind 0, and hash the number. */

#endif
