/* SPDX-License-Identifier: Apache-2.0 */
/* Where modules are found before the Erlang code server runs: -pa directories, then the installation's library.
 * Root: ERLVM_ROOT or /usr/lib/erlang. Its directories are listed once, when first needed. */
#ifndef VM_CODE_CODE_PATH_H
#define VM_CODE_CODE_PATH_H

#include "term/term.h"

void code_path_init(void);
/* Later ones are searched first, as erl's -pa. At start only. */
void code_path_add(const char *directory);
const char *code_path_root(void);
/* Loads the module when it is not loaded and a file of its name is found. Is it loaded now? A damaged file is told of on standard error. */
bool code_autoload(Term module);
/* A whole file. Owns: the caller (mem_free). Fails: NULL. Units: *n bytes. */
uint8_t *code_path_read(const char *file, size_t *n);
/* The file of a module, or NULL. Owns: the caller (mem_free). */
char *code_path_find(Term module);

#endif
