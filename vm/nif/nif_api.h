/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of erl_nif.h that libraries of our own call, those that are linked in: erl_nif_api_funcs.h of the
 * distribution's erlang-dev says what each does. Terms they make with what the rooms below have. */
#ifndef VM_NIF_NIF_API_H
#define VM_NIF_NIF_API_H

#include "nif/nif_abi.h"

struct nif_pid *enif_self(struct nif_env *env, struct nif_pid *pid);
int enif_get_local_pid(struct nif_env *env, Term t, struct nif_pid *pid);
int enif_send(struct nif_env *env, const struct nif_pid *to, struct nif_env *message_env, Term message);

struct nif_env *enif_alloc_env(void);
void enif_clear_env(struct nif_env *env);
void enif_free_env(struct nif_env *env);
Term enif_make_copy(struct nif_env *to, Term t);
Term enif_make_badarg(struct nif_env *env);
Term enif_raise_exception(struct nif_env *env, Term reason);

struct nif_type *enif_open_resource_type_x(struct nif_env *env, const char *name, const struct nif_type_init *init,
					   int flags, int *tried);
void *enif_alloc_resource(struct nif_type *type, size_t size);
void enif_keep_resource(void *object);
void enif_release_resource(void *object);
Term enif_make_resource(struct nif_env *env, void *object);
int enif_get_resource(struct nif_env *env, Term t, struct nif_type *type, void **object);
int enif_monitor_process(struct nif_env *env, void *object, const struct nif_pid *pid, struct nif_monitor *monitor);
int enif_demonitor_process(struct nif_env *env, void *object, const struct nif_monitor *monitor);
int enif_select(struct nif_env *env, int fd, unsigned mode, void *object, const struct nif_pid *pid, Term ref);
int enif_select_x(struct nif_env *env, int fd, unsigned mode, void *object, const struct nif_pid *pid, Term message,
		  struct nif_env *message_env);
Term enif_schedule_nif(struct nif_env *env, const char *name, int flags, nif_native native, int argc,
		       const Term *argv);
int enif_consume_timeslice(struct nif_env *env, int percent);

int enif_get_int(struct nif_env *env, Term t, int *to);
int enif_get_uint(struct nif_env *env, Term t, unsigned *to);
int enif_get_long(struct nif_env *env, Term t, long *to);
int enif_get_ulong(struct nif_env *env, Term t, unsigned long *to);
int enif_get_string(struct nif_env *env, Term list, char *to, unsigned room, int encoding);
enum nif_term_type enif_term_type(struct nif_env *env, Term t);
int enif_is_identical(Term a, Term b);
int enif_inspect_iolist_as_binary(struct nif_env *env, Term t, struct nif_binary *b);
int enif_inspect_binary(struct nif_env *env, Term t, struct nif_binary *b);
int enif_alloc_binary(size_t size, struct nif_binary *b);
int enif_realloc_binary(struct nif_binary *b, size_t size);
void enif_release_binary(struct nif_binary *b);
Term enif_make_binary(struct nif_env *env, struct nif_binary *b);
Term enif_make_sub_binary(struct nif_env *env, Term t, size_t at, size_t size);
int enif_inspect_iovec(struct nif_env *env, size_t most, Term list, Term *rest, struct nif_iovec **to);

#endif
