/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of file operations, for the rows of the view efile in bpf/views.def. */
#ifndef TOOLS_EFILE_TEXT_H
#define TOOLS_EFILE_TEXT_H

#include "views.h"

/* What a command is called (EFILE_OP of vm/probes.def); "?": there is none of that number. */
const char *efile_text_op(uint64_t command);
/* Of a struct told_efile_op, as of view_maker: {thread,tag}; what was asked, with its arguments, and by whom; how it
 * ended. */
void efile_text_name(char *out, size_t size, const void *record, const struct view_namer *namer);
void efile_text_asked(char *out, size_t size, const void *record, const struct view_namer *namer);
void efile_text_result(char *out, size_t size, const void *record, const struct view_namer *namer);
/* What was asked; and also how it ended if it failed. */
void efile_text_what(char *out, size_t size, const void *record, const struct view_namer *namer);
void efile_text_all(char *out, size_t size, const void *record, const struct view_namer *namer);

#endif
