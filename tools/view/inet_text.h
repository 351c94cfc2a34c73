/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of calls of sockets, for the rows of the view inet in bpf/views.def. */
#ifndef TOOLS_INET_TEXT_H
#define TOOLS_INET_TEXT_H

#include "views.h"

/* Of a struct inet_call, as of view_maker: what is asked of which socket. */
void inet_text_call(char *out, size_t size, const void *call, const struct view_namer *namer);

#endif
