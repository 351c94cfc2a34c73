/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver sctp_inet needs beyond other sockets: the kernel's structures as records of kernel's inet_sctp.hrl,
 * options made of them, and messages with what comes beside them. */
#ifndef VM_IO_INET_SCTP_H
#define VM_IO_INET_SCTP_H

#include "heap/heap.h"
#include "io/inet.h"

#include <linux/sctp.h> /* which needs what inet.h includes */

/* ---- inet_sctp_record.c */
/* How a field is told, and read where a process sets it. */
enum sctp_kind {
	SCTP_NUMBER, SCTP_SIGNED, SCTP_NETWORK, /* integers; NETWORK: the kernel has the highest byte first */
	SCTP_ASSOC,                             /* which association */
	SCTP_TRUTH, SCTP_ADDRESS,
	SCTP_SEND_FLAGS, SCTP_PATH_FLAGS,       /* a list of atoms; a number where it is set */
	SCTP_NOT_THERE,                         /* false; a byte where it is set, which says nothing */
	/* not set by processes: */
	SCTP_TOLD,                              /* a number */
	SCTP_ASSOC_STATE, SCTP_PATH_CHANGE, SCTP_PATH_STATE, SCTP_STATUS_STATE, SCTP_DELIVERY, /* an atom */
	SCTP_PATH, SCTP_SENT,                   /* a record: sctp_paddrinfo, sctp_sndrcvinfo */
};
enum { SCTP_RECORD_FIELDS = 9, SCTP_RECORD_BYTES = 256 };

struct sctp_record {
	Term name;
	uint16_t bytes;          /* of the kernel's structure */
	uint8_t count;
	struct sctp_field {
		uint8_t offset, size, kind;
	} fields[SCTP_RECORD_FIELDS];
};
extern const struct sctp_record sctp_record_rtoinfo, sctp_record_assocparams, sctp_record_initmsg, sctp_record_prim,
	sctp_record_setpeerprim, sctp_record_setadaptation, sctp_record_paddrparams, sctp_record_sndrcvinfo,
	sctp_record_event_subscribe, sctp_record_assoc_value, sctp_record_status, sctp_record_paddrinfo,
	sctp_record_assoc_change, sctp_record_paddr_change, sctp_record_remote_error, sctp_record_send_failed,
	sctp_record_shutdown_event, sctp_record_adaptation_event, sctp_record_pdapi_event;

/* Which fields are read: of these kinds, or all that processes set. */
enum { SCTP_READ_ALL = 0, SCTP_READ_ASSOC = 1 << SCTP_ASSOC, SCTP_READ_ADDRESS = 1 << SCTP_ADDRESS };
/* The fields from the front of *at, as prim_inet encodes them, into a structure at `to` of r->bytes, which is cleared.
 * family: of the socket. Fails: the error's name; else NULL. */
const char *sctp_read_record(const struct sctp_record *r, unsigned which, int family, void *to, const uint8_t **at,
			     size_t *n);
/* {Name, Field...} of r->bytes bytes, and `last` behind them where it is not TERM_NONE. */
Term sctp_put_record(struct heap *h, const struct sctp_record *r, const void *bytes, Term last);
/* {10,0,0,1} */
Term sctp_put_address(struct heap *h, const struct inet_address *a);

/* ---- inet_sctp_options.c */
/* One option, whose value begins at *at. Fails: false. `known` tells whether there is one of that number. */
bool inet_sctp_set(struct inet_socket *s, unsigned number, const uint8_t **at, size_t *n, bool *known);
/* The command INET_REQ_GETOPTS: the answer is a message to who asks. */
void inet_sctp_getopts(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);

/* ---- inet_sctp_message.c */
/* A notification of n bytes as a record; *error: it tells of one. Fails: TERM_NONE, it is of no kind that is told, or
 * not whole. */
Term sctp_put_event(struct heap *h, const uint8_t *bytes, size_t n, bool *error);
/* n bytes of `b`, data or (event) a notification, and what came with them in m: to the owner, or who receives. */
void inet_sctp_deliver(struct inet_socket *s, const struct inet_address *from, struct msghdr *m, struct binary *b,
		       const uint8_t *bytes, size_t n, bool event);
/* {inet_reply, Port, {ok, value}} to a process that waits for it. */
void inet_sctp_reply(struct inet_socket *s, Term to, struct heap *h, Term value);
/* {inet_async, Port, Id, {ok, Association}}; ends op. */
void inet_sctp_connected(struct inet_socket *s, struct inet_op *op, sctp_assoc_t association);

#endif
