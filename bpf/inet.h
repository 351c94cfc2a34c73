/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process asks a socket of OTP's drivers for and gets an answer to, for both sides. */
#ifndef BPF_INET_H
#define BPF_INET_H

#include "event.h"
#include "wire.h"

/* What port_control/3 means there: the numbers of kernel's inet_int.hrl, between prim_inet and the drivers. */
enum {
    INET_COMMANDS = 0x03f1a300, /* is added to each */
    INET_CONNECT = INET_COMMANDS + 3,
    INET_ACCEPT = INET_COMMANDS + 26,
    INET_RECV = INET_COMMANDS + 42,
    INET_RECV_PACKET = INET_COMMANDS + 60,
    INET_SEND = 0, /* which is no call of port_control/3 */
};

/* A call that is not answered yet. */
struct inet_call {
    struct wire_header header;
    __u64 command;
    ev_id port;
};

#endif
