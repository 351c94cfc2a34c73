/* SPDX-License-Identifier: Apache-2.0 */
/* The event of lttng_peer.c: two integers, in LTTng's own form (lttng-ust(3)); LTTng includes this several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER erlsnoop_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_peer.h"
#if !defined(BENCH_LTTNG_PEER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PEER_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(erlsnoop_bench, sent, LTTNG_UST_TP_ARGS(unsigned long, receiver, unsigned long, words),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(unsigned long, receiver, receiver)
        lttng_ust_field_integer(unsigned long, words, words)))
#endif
#include <lttng/tracepoint-event.h>
