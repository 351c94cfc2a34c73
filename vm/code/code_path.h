/* SPDX-License-Identifier: Apache-2.0 */
/* Where modules are found before the Erlang code server runs: -pa directories, then the installation's library.
 * Root: code_path_set_root, ERLVM_ROOT or /usr/lib/erlang. Its directories are listed once, when first needed. */
#ifndef VM_CODE_CODE_PATH_H
#define VM_CODE_CODE_PATH_H

#include "term/term.h"

void code_path_init(void);
/* The modules that stand in ERTS itself with OTP of this release. *count: how many. */
const Term *code_preloaded(unsigned *count);
bool code_is_preloaded(Term module);
/* Loads them from the installation, then ends the search: what is undefined from now on is OTP's error_handler's to
 * find. Before anything runs. Fails: -ENOENT with *missing when one is not there. */
int code_preload(const char **missing);
/* Has code_preload not been called? */
bool code_path_is_open(void);
/* Later ones are searched first, as erl's -pa. At start only. */
void code_path_add(const char *directory);
void code_path_set_root(const char *root);
const char *code_path_root(void);
/* The installation's erts-VERSION (newest). Owns: the caller (mem_free). Fails: NULL. */
char *code_path_erts(void);
/* A folder of the installation's kernel or stdlib, where all that it has of it is of other releases than the current
 * one. Owns: the caller (mem_free). NULL: there is none. */
char *code_path_stray(void);
/* Loads the module when it is not loaded and a file of its name is found. Is it loaded now? A damaged file is told of
 * on standard error. */
bool code_autoload(Term module);
/* A whole file. Owns: the caller (mem_free). Fails: NULL. Units: *n bytes. */
uint8_t *code_path_read(const char *file, size_t *n);
/* The file of a module, or NULL. Owns: the caller (mem_free). */
char *code_path_find(Term module);

#endif
