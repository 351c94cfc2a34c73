/* SPDX-License-Identifier: Apache-2.0 */
/* The pointers to the code room; vm/main.c sets them before any term is read. */
#include "data/fun_link.h"

void (*fun_link_describe)(const struct fun_entry *e, struct fun_facts *f);
struct fun_entry *(*fun_link_get)(const struct fun_facts *f);
void (*fun_link_describe_export)(const struct export *e, struct export_facts *f);
struct export *(*fun_link_get_export)(Term module, Term function, uint32_t arity);
struct export *(*fun_link_find_export)(Term module, Term function, uint32_t arity);
