/* SPDX-License-Identifier: Apache-2.0 */
/* Where messages come from, as text. */
#ifndef TOOLS_MESSAGE_TEXT_H
#define TOOLS_MESSAGE_TEXT_H

#include <stdint.h>

/* Of a number of MESSAGE_ORIGIN (vm/probes.def); "?": there is none of that number. */
const char *message_text_origin(uint64_t number);

#endif
