/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of heap objects: the one place that knows, by header, how long an object is and where its terms are. */
#include "term/object.h"

#include "base/log.h"

const uint8_t object_first_terms[16] = { [SUB_TUPLE] = 1,
					 [SUB_RECORD] = 1,
					 [SUB_FUN] = FUN_FIRST_TERM,
					 [SUB_SUBBIN] = SUBBIN_TERM,
					 [SUB_MATCH] = MATCH_TERM };
