/* SPDX-License-Identifier: Apache-2.0 */
#include "inet_text.h"

#include <stdio.h>

static const char *name_command(uint64_t command)
{
    switch (command) {
    case INET_CONNECT: return "connect";
    case INET_ACCEPT: return "accept";
    case INET_RECV:
    case INET_RECV_PACKET: return "recv";
    case INET_SEND: return "send";
    default: return "?";
    }
}

void inet_text_call(char *out, size_t size, const void *told, const struct view_namer *namer)
{
    const struct inet_call *call = told;
    const struct wire_name port = {.form = WIRE_PORT_NAME, .words = {call->port}};

    snprintf(out, size, "%s, %s", name_command(call->command), namer->name(namer->ctx, call->header.vm, &port));
}
