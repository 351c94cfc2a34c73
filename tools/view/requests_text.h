/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of servers, of a struct told_requests_call, as text. */
#ifndef TOOLS_REQUESTS_TEXT_H
#define TOOLS_REQUESTS_TEXT_H

#include "views.h"

/* How it ended. */
view_maker requests_text_end;
/* What its server is called. */
view_maker requests_text_server;

#endif
