/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of calls of sockets, for the rows of the view inet in bpf/views.def. */
#ifndef TOOLS_INET_TEXT_H
#define TOOLS_INET_TEXT_H

#include "views.h"

/* Of a struct inet_call: what is asked of which socket. */
view_maker inet_text_call;

#endif
