/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the match specifications: what match_compile.c shares with match_key.c. */
#ifndef VM_ETS_MATCH_COMPILE_H
#define VM_ETS_MATCH_COMPILE_H

#include "ets/match.h"

void match_init(void);
/* t, a part of a head of m, is or holds a variable, '_' or a map. */
bool match_is_open(const struct match_program *m, Term t);

#endif
