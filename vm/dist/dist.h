/* SPDX-License-Identifier: Apache-2.0 */
/* This node among others: messages to them made and read, the connections that carry them. */
#ifndef VM_DIST_DIST_H
#define VM_DIST_DIST_H

#include "dist/channel.h"

/* Wires proc and io. After io_init. */
void dist_init(void);

/* setnode/2: this node has a name from now on, until net_kernel ends. Fails: false, it has one, or there is no
 * net_kernel. */
bool dist_start(Term name, uint32_t creation);
bool dist_is_alive(void);
/* Of a node's name, as an atom: has it a name, a host and an @ between them? */
bool dist_is_node_name(Term name);

/* The one to that node; where there is none, net_kernel is asked for it. Owns: the caller. Fails: NULL, this node has
 * no name, or there is no net_kernel. */
struct channel *dist_connect(Term node);
/* The term that Erlang's part of the distribution knows it by, on h. */
Term dist_handle(struct heap *h, const struct channel *c);
/* Owns: the caller. NULL: it is no such term, or the connection is lost. */
struct channel *dist_from_handle(Term handle);

/* The port, which is held, carries c from now on. Fails: false. */
bool dist_take_port(struct port *port, struct channel *c, uint64_t flags, Term setup_pid);
/* The process, which runs here, does. */
bool dist_take_process(Process *p, struct channel *c, uint64_t flags, Term setup_pid);

/* The connection is lost, and what carries it ends. reason: see channel_down. */
void dist_end_channel(struct channel *c, Term reason);

/* ---- send.c */
/* The control tuple of n elements, what follows (or TERM_NONE), for c. sender: whose signals stay in their order, or
 * TERM_NONE. concerned: see channel_put. Fails: false; terms that are larger than the format can tell end the
 * connection. */
bool dist_put(struct channel *c, Term sender, size_t n, const Term *control, Term payload, Term concerned, bool *busy);
/* The message alone. Owns: the caller. Fails: NULL, the terms are larger than the format can tell. */
struct dist_message *dist_message_make(struct channel *c, Term sender, size_t n, const Term *control, Term payload);
/* The group leader of a process of another node. */
void dist_send_group_leader(Process *p, Term leader, Term pid);
void dist_wire_send(void);

/* ---- receive.c */
/* n bytes that came over c: one message, without its length. Fails: false, the connection is to be closed. */
bool dist_receive(struct channel *c, const uint8_t *bytes, size_t n);

/* ---- spawn.c */
struct spawn_request;
/* What erts_internal:dist_spawn_request asks for: mfa, its options less those of `r`. ref: of the request. Fails:
 * why not, an atom; else TERM_NONE. */
Term dist_spawn(Process *p, Term node, Term mfa, Term options, const struct spawn_request *r, Term ref);
/* The answer to a request, for who asked: result a pid or why not; the sequential trace token that came with it, NIL,
 * or am_undefined: none came from another node. Owns: the caller. */
struct signal *dist_spawn_reply(const struct channel *c, Term ref, Term result, Term flags, Term token);
/* Another node asks. control: the tuple; payload: the arguments; token: or NIL; on h, whose words may
 * grow by what is told of the token. Fails: false, that is no request. */
bool dist_spawn_asked(struct channel *c, struct heap *h, Term control, Term arguments, Term token);

#endif
