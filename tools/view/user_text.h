/* SPDX-License-Identifier: Apache-2.0 */
/* The text of what Erlang code told, for records of the view user. */
#ifndef TOOLS_USER_TEXT_H
#define TOOLS_USER_TEXT_H

#include "views.h"

/* The integers, then the texts up to the last that is not empty, in quotes; of a text alone, itself. */
view_maker user_text_all;

#endif
