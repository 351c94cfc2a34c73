/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets behind gen_tcp, gen_udp and gen_sctp: what the drivers tcp_inet, udp_inet and sctp_inet share. Source of
 * commands, answers and messages: kernel's prim_inet.erl and inet_int.hrl of OTP 25, whose numbers these are. Numbers
 * go the highest byte first. A socket belongs to its port, and whoever holds the port has it. */
#ifndef VM_IO_INET_H
#define VM_IO_INET_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "data/packet.h"
#include "io/port.h"

/* Of a socket, as inet:getstatus tells them. */
enum {
	INET_OPEN = 1,
	INET_CONNECTED = 4,
	INET_LISTENS = 8,
	INET_CONNECTS = 0x10,
	INET_ACCEPTS = 0x20,
	INET_BUSY = 0x80,
	INET_MANY_ACCEPT = 0x100,
};
enum inet_active { INET_PASSIVE, INET_ACTIVE, INET_ONCE, INET_MULTI };
enum { INET_MODE_LIST, INET_MODE_BINARY };
enum { INET_DELIVER_PORT, INET_DELIVER_TERM };
enum inet_family { INET_AF_UNSPEC, INET_AF_INET, INET_AF_INET6, INET_AF_ANY, INET_AF_LOOPBACK, INET_AF_LOCAL,
		   INET_AF_UNDEFINED, INET_AF_LIST };
enum { INET_TYPE_STREAM = 1, INET_TYPE_DGRAM, INET_TYPE_SEQPACKET };
enum { INET_PACKETS_AT_ONCE = 5, INET_ANSWER_MAX = 64 << 10, INET_PACKET_MAX = 64 << 20 };
#define INET_INFINITY UINT32_MAX

struct inet_address {
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	};
	socklen_t size;
};
/* Address family and address, as prim_inet encodes them, from the front of *at; INET_AF_ANY and INET_AF_LOOPBACK are
 * of that family (AF_*).
 * Fails: "einval" or "eafnosupport"; else NULL, and *at, *n are what follows. */
const char *inet_address_read(struct inet_address *a, int family, const uint8_t **at, size_t *n);
/* As prim_inet decodes it. Returns false for an address of no known form, of which nothing follows. */
bool inet_address_put(struct port_answer *out, const struct inet_address *a);
/* -1: it has none. */
int inet_address_port(const struct inet_address *a);

/* Somebody waits for an answer. */
struct inet_op {
	struct inet_op *next;
	uint16_t id;
	Term caller;
	uint64_t monitor;        /* of the caller: 0 without */
	uint64_t deadline_ms;    /* of timer_now_ms; 0: none */
};

/* The reference that a sender put before its data (releases.def: sends_are_tagged), as a local reference has it. */
struct inet_tag {
	uint64_t number, owner;  /* number 0: none */
};

struct inet_buffer {
	struct binary *binary;   /* NULL: none. Shared with what was delivered: bytes before `start` never change */
	size_t start, end, room; /* what was read and not delivered; how much it is to hold */
	size_t wanted;           /* so many bytes more make a packet; 0: not known */
};

struct inet_stat {
	uint64_t count, bytes, max;
	double average, deviation;
};

struct inet_socket {
	struct port *port;
	int fd;                  /* -1: none; watched by port->read_watch */
	int family, type, protocol;
	unsigned state;
	bool prebound;           /* somebody else opened the descriptor, which is then not closed */
	uint16_t next_op;
	struct inet_op *ops;     /* the oldest first; one, but for accepts */
	struct {
		bool event, skips; /* what came is of a notification; it is too long, and dropped at its end */
	} sctp;
	struct inet_tag tag, busy_tag; /* of the command that is not answered; of busy_caller's */
	/* options */
	enum inet_active active;
	int active_count;
	int mode, deliver, packet;
	bool http_headers;       /* the first line of a message was read: its headers follow */
	uint32_t packet_bytes, header_bytes, buffer_bytes;
	bool buffer_set, exit_on_close, debug;
	uint8_t delimiter;
	unsigned control_options; /* CONTROL_*: what recvmsg is asked for */
	char *netns;
	struct inet_address remote;
	struct inet_address *peer_name, *own_name; /* as others are to see them; NULL: as they are */
	struct inet_stat received, sent;
	uint32_t high_bytes, low_bytes; /* watermarks of the queue */
	/* of whole messages: reads one and delivers it. Returns false when there is none to be read now */
	bool (*receive_one)(struct inet_socket *s);
	/* stream; of SCTP what came of a message that is not whole yet */
	struct inet_buffer in;
	size_t length;           /* what the receiver asked for; 0: what there is */
	uint32_t send_timeout_ms, read_packets;
	bool send_timeout_close, delay_send, show_econnreset, linger_zero;
	bool reads_no_further;   /* {read_ahead, false}: kept, and nothing goes by it */
	bool sends_or_fails;     /* {non_block_send, true}: kept; who sends by SCTP never waits */
	bool closed_sent, closed_for_recv, closed_for_send, reset_seen, write_shut;
	int shutdown_waits;      /* how + 1, once the queue is empty */
	Term busy_caller;        /* who waits for the queue to get short */
	uint64_t busy_deadline_ms, connect_deadline_ms;
	Term *subscribers;       /* of an empty queue */
	size_t subscriber_count;
	struct {
		bool runs;
		int fd;          /* ours */
		int64_t offset, length, sent;
		size_t skip;     /* bytes of the queue that go first */
	} file;
};
enum { INET_CONTROL_TOS = 1, INET_CONTROL_TCLASS = 2, INET_CONTROL_TTL = 4 };

static inline uint32_t inet_read16(const uint8_t *at) { return (uint32_t)at[0] << 8 | at[1]; }
static inline uint32_t inet_read32(const uint8_t *at) { return inet_read16(at) << 16 | inet_read16(at + 2); }
static inline uint64_t inet_read64(const uint8_t *at) { return (uint64_t)inet_read32(at) << 32 | inet_read32(at + 4); }
static inline bool inet_is_connected(const struct inet_socket *s)
{
	return (s->state & (INET_OPEN | INET_CONNECTED)) == (INET_OPEN | INET_CONNECTED);
}

/* ---- inet.c: commands of all sockets */
struct inet_socket *inet_new(struct port *port, int protocol);
/* Closes what is open. */
void inet_free(struct inet_socket *s);
/* A socket on fd, with a port of its own and what it inherits from s: of a connection that s accepted, or let go of
 * one of its own. Its port is held. Owns: fd. Fails: NULL, there are as many ports as there may be; fd is the
 * caller's. */
struct inet_socket *inet_new_like(const struct inet_socket *s, int fd, Term owner, const struct inet_address *remote);
/* The stop of a driver of sockets: who waits is told that it is closed. */
void inet_stop(struct port *port);
/* The descriptor is closed, and the socket's state. */
void inet_close_fd(struct inet_socket *s);
/* Makes fd the socket's. Fails: -errno, and fd is closed. */
int inet_take_fd(struct inet_socket *s, int fd);
/* Waits for input, output. */
void inet_want(struct inet_socket *s, unsigned bits, bool on);
void inet_count(struct inet_stat *stat, size_t n);
/* A command of one kind of socket alone, with data[n]; answers. */
struct inet_command_row {
	unsigned command;
	void (*run)(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);
};
/* The control of a driver of sockets: a command of its own, or else one that all know. command: INET_MAGIC + enum
 * inet_command. */
void inet_run(struct port *port, const struct inet_command_row *own, size_t count, unsigned command,
	      const uint8_t *data, size_t n, struct port_answer *a);
/* A command that all know; the answer to another is an error. */
void inet_control(struct inet_socket *s, unsigned command, const uint8_t *data, size_t n, struct port_answer *a);
/* Answers of controls. */
void inet_answer_ok(struct port_answer *a);
void inet_answer_later(struct port_answer *a); /* a message follows: {inet_reply, Port, _} */
void inet_answer_word(struct port_answer *a, const char *error);
void inet_answer_error(struct port_answer *a, int error);
void inet_answer_op(struct port_answer *a, uint16_t id);
/* The data of INET_REQ_OPEN and FDOPEN: opens. type: SOCK_*. */
void inet_open(struct inet_socket *s, const uint8_t *data, size_t n, int type, struct port_answer *a);
void inet_fdopen(struct inet_socket *s, const uint8_t *data, size_t n, int type, struct port_answer *a);
/* The command INET_REQ_LISTEN, whose data is the backlog, two bytes. */
void inet_listen(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);
/* Somebody waits, from now on: port->caller. */
struct inet_op *inet_add_op(struct inet_socket *s, uint32_t timeout_ms);
/* Takes op out and frees it; its caller is watched no more. */
void inet_end_op(struct inet_socket *s, struct inet_op *op);

/* Commands: magic number + these. */
#define INET_MAGIC 0x03f1a300u
enum inet_command {
	INET_REQ_OPEN = 1, INET_REQ_CLOSE, INET_REQ_CONNECT, INET_REQ_PEER, INET_REQ_NAME, INET_REQ_BIND,
	INET_REQ_SETOPTS, INET_REQ_GETOPTS,
	INET_REQ_GETSTAT = 11, INET_REQ_GETHOSTNAME, INET_REQ_FDOPEN, INET_REQ_GETFD, INET_REQ_GETTYPE,
	INET_REQ_GETSTATUS,
	INET_REQ_GETSERVBYNAME, INET_REQ_GETSERVBYPORT, INET_REQ_SETNAME, INET_REQ_SETPEER, INET_REQ_GETIFLIST,
	INET_REQ_IFGET, INET_REQ_IFSET,
	INET_REQ_SUBSCRIBE, INET_REQ_GETIFADDRS, INET_REQ_ACCEPT, INET_REQ_LISTEN, INET_REQ_IGNOREFD,
	INET_REQ_GETLADDRS, INET_REQ_GETPADDRS,
	TCP_REQ_RECV = 42, TCP_REQ_UNRECV, TCP_REQ_SHUTDOWN, TCP_REQ_SENDFILE,
	PACKET_REQ_RECV = 60, SCTP_REQ_BINDX = 62, SCTP_REQ_PEELOFF,
};

/* ---- inet_options.c */
/* Those of the driver, and those of their own form: numbers of inet_int.hrl. */
enum {
	OPT_LINGER = 3, OPT_RCVBUF = 7, OPT_PRIORITY = 8, OPT_TOS = 9,
	OPT_MULTICAST_IF = 11, OPT_ADD_MEMBERSHIP = 14, OPT_DROP_MEMBERSHIP = 15,
	LOPT_BUFFER = 20, LOPT_HEADER, LOPT_ACTIVE, LOPT_PACKET, LOPT_MODE, LOPT_DELIVER, LOPT_EXIT_ON_CLOSE, LOPT_HIGH,
	LOPT_LOW,
	LOPT_SEND_TIMEOUT = 30, LOPT_DELAY_SEND, LOPT_PACKET_SIZE, LOPT_READ_PACKETS, OPT_RAW, LOPT_SEND_TIMEOUT_CLOSE,
	LOPT_MESSAGE_HIGH,
	LOPT_MESSAGE_LOW, LOPT_NETNS, LOPT_SHOW_ECONNRESET, LOPT_LINE_DELIMITER, OPT_TCLASS, OPT_BIND_TO_DEVICE,
	OPT_RECVTOS, OPT_RECVTCLASS,
	OPT_PKTOPTIONS, OPT_TTL, OPT_RECVTTL,
	OPT_EXCLUSIVEADDRUSE = 19, /* of Windows */
	LOPT_READ_AHEAD = 49, LOPT_NON_BLOCK_SEND, LOPT_DEBUG = 99,
};
/* An option that the kernel keeps as one integer: inet_options.def. */
struct inet_kernel_option {
	int level, name;
	bool told;               /* it is an error that the kernel refuses it */
	bool there;
	enum { INET_SCTP_NONE, INET_SCTP_BOOL, INET_SCTP_INT } sctp; /* how an SCTP socket tells it: as sctp_name */
	Term sctp_name;
};
/* By its number. Fails: NULL, it is none of them. */
const struct inet_kernel_option *inet_find_option(unsigned number);
/* What changed matters to the driver: see inet_options_set. */
struct inet_change {
	bool active, packet;     /* it is another than before */
	bool was_passive;
	bool closed;             /* made active after the peer had closed */
};
/* Fails: false, einval; those before the bad one are set. */
bool inet_options_set(struct inet_socket *s, const uint8_t *data, size_t n, struct inet_change *change);
bool inet_options_get(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);

/* ---- inet_packet.c: sockets of whole messages. Commands, and callbacks of the driver */
void inet_packet_recv(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);
void inet_packet_close(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);
void inet_packet_setopts(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);
void inet_packet_input(struct port *port, struct port_watch *w);
void inet_packet_timeout(struct port *port);
/* Waits for input, if somebody wants some. */
void inet_packet_want(struct inet_socket *s);
/* Reading failed: {tag, Port, Error} to the owner, or an answer to who receives. */
void inet_packet_failed(struct inet_socket *s, int error, Term tag);

/* ---- inet_interfaces.c */
void inet_list_interfaces(struct inet_socket *s, struct port_answer *a);
void inet_list_addresses(struct inet_socket *s, struct port_answer *a);
void inet_get_interface(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);
void inet_set_interface(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);

/* ---- inet_message.c */
/* {inet_async, Port, Id, ok}, {inet_async, Port, Id, {ok, What}} or {inet_async, Port, Id, {error, What}} to the op's
 * caller; ends op. */
void inet_op_ok(struct inet_socket *s, struct inet_op *op);
void inet_op_ok_port(struct inet_socket *s, struct inet_op *op, Term port);
void inet_op_error(struct inet_socket *s, struct inet_op *op, Term why);
void inet_ops_error(struct inet_socket *s, Term why); /* all */
/* Takes the tag of port->caller off the front of what is sent, for the answer. Fails: false, it has none where there
 * must be one: the port ends. */
bool inet_take_tag(struct inet_socket *s, struct byte_queue *data);
/* {inet_reply, Port, ok}, or {error, why}, and the tag where there is one, which is then used up. to: TERM_NONE, or no
 * local process: nobody. */
void inet_reply_ok(struct inet_socket *s, Term to);
void inet_reply_error(struct inet_socket *s, Term to, Term why);
/* {what, Port}, {what, Port, why} to the owner. */
void inet_tell_owner(struct inet_socket *s, Term what, Term why);
void inet_tell(struct inet_socket *s, Term to, Term what, Term why);
/* {sendfile, Port, {ok, Low, High}}, or {error, why} where why is not TERM_NONE. */
void inet_tell_file(struct inet_socket *s, int64_t sent, Term why);
/* A list takes sixteen times the bytes that a peer sends: is there memory for the message of a packet of n bytes, and
 * for its receiver? */
bool inet_packet_fits(const struct inet_socket *s, size_t n);
/* n bytes at `bytes`, inside b: a whole packet, header included. To the owner, or who receives. shared: b may become
 * part of the message. */
void inet_deliver_packet(struct inet_socket *s, struct binary *b, const uint8_t *bytes, size_t n, bool shared);
struct inet_control_data {   /* of a datagram */
	unsigned count;
	struct { Term name; int value; } items[4];
};
void inet_read_control(struct msghdr *m, struct inet_control_data *to);
/* One header. Returns false for what is not told. */
bool inet_read_control_item(const struct cmsghdr *c, Term *name, int *value);
void inet_deliver_datagram(struct inet_socket *s, const struct inet_address *from, struct binary *b, size_t n,
			   const struct inet_control_data *c);
/* Which packets are read now: behind the first line of HTTP come headers. */
enum packet_type inet_packet_type(const struct inet_socket *s);
/* {tcp_passive, Port} and its like to the owner. */
void inet_tell_passive(struct inet_socket *s);
/* Delivered while active: once becomes passive, a count goes down. */
void inet_step_active(struct inet_socket *s);

#endif
