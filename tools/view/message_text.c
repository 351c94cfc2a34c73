/* SPDX-License-Identifier: Apache-2.0 */
#include "message_text.h"

const char *message_text_origin(uint64_t number)
{
    switch (number) {
#define MESSAGE_ORIGIN(number, name, text)                                                         \
    case number: return text;
#include "../../vm/probes.def"
    default: return "?";
    }
}
