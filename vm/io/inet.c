/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that all sockets know: to open, bind, name, look at. An answer begins with 1 (done), or 0 and the name of
 * the error. */
#include "io/inet.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/release.h"
#include "io/port_signal.h"
#include "io/posix.h"
#include "proc/timer.h"

enum { REP_ERROR, REP_OK, REP_LATER, WATERMARK_HIGH = 8192, WATERMARK_LOW = 4096, HOST_NAME_BYTES = 256,
       BUFFER_BYTES = 9216, BUFFER_BYTES_BEFORE = 1460 };
static const char exbadport[] = "exbadport";

/* ---- answers */

void inet_answer_ok(struct port_answer *a)
{
	answer_put_byte(a, REP_OK);
}

void inet_answer_later(struct port_answer *a)
{
	answer_put_byte(a, REP_LATER);
}

void inet_answer_word(struct port_answer *a, const char *error)
{
	answer_put_byte(a, REP_ERROR);
	answer_put(a, error, strlen(error));
}

void inet_answer_error(struct port_answer *a, int error)
{
	size_t n;
	const char *text = atom_text(posix_error_atom(error), &n);

	answer_put_byte(a, REP_ERROR);
	answer_put(a, text, n);
}

static void put16(struct port_answer *a, unsigned v)
{
	answer_put(a, (uint8_t[]){ (uint8_t)(v >> 8), (uint8_t)v }, 2);
}

static void put32(struct port_answer *a, uint32_t v)
{
	put16(a, v >> 16);
	put16(a, v & 0xffff);
}

void inet_answer_op(struct port_answer *a, uint16_t id)
{
	inet_answer_ok(a);
	put16(a, id);
}

/* ---- the socket */

struct inet_socket *inet_new(struct port *port, int protocol)
{
	struct inet_socket *s = mem_zalloc(sizeof(*s));

	s->port = port;
	s->fd = -1;
	s->protocol = protocol;
	s->mode = INET_MODE_LIST;
	s->deliver = INET_DELIVER_TERM;
	s->active = INET_PASSIVE;
	s->exit_on_close = true;
	s->buffer_bytes = release_buffers_datagrams() ? BUFFER_BYTES : BUFFER_BYTES_BEFORE;
	s->delimiter = '\n';
	s->high_bytes = WATERMARK_HIGH;
	s->low_bytes = WATERMARK_LOW;
	s->send_timeout_ms = INET_INFINITY;
	s->read_packets = INET_PACKETS_AT_ONCE;
	s->busy_caller = TERM_NONE;
	return s;
}

void inet_close_fd(struct inet_socket *s)
{
	if (s->fd < 0)
		return;
	port_watch_drop(&s->port->read_watch);
	s->fd = -1;
	s->state &= ~(unsigned)(INET_OPEN | INET_CONNECTED);
}

void inet_free(struct inet_socket *s)
{
	inet_close_fd(s);
	while (s->ops != NULL)
		inet_end_op(s, s->ops);
	if (s->in.binary != NULL)
		binary_unref(s->in.binary);
	if (s->file.runs)
		close(s->file.fd);
	mem_free(s->netns);
	mem_free(s->peer_name);
	mem_free(s->own_name);
	mem_free(s->subscribers);
	mem_free(s);
}

void inet_stop(struct port *port)
{
	struct inet_socket *s = port->driver_data;

	inet_ops_error(s, am_closed);
	inet_free(s);
	port->driver_data = NULL;
}

int inet_take_fd(struct inet_socket *s, int fd)
{
	int error = port_watch_add(s->port, &s->port->read_watch, fd, !s->prebound);

	if (error == 0)
		s->fd = fd;
	return error;
}

void inet_want(struct inet_socket *s, unsigned bits, bool on)
{
	port_watch_want(&s->port->read_watch, bits, on);
}

void inet_count(struct inet_stat *stat, size_t n)
{
	stat->count++;
	stat->bytes += n;
	if (n > stat->max)
		stat->max = n;
	stat->average += ((double)n - stat->average) / (double)stat->count;
	stat->deviation += ((double)n - stat->average - stat->deviation) / (double)stat->count;
}

static void copy_busy_limits(struct port *to, struct port *from)
{
	size_t low = 0, high = 0;

	port_busy_limits(from, &low, &high);
	port_busy_limits(to, &low, &high);
}

struct inet_socket *inet_new_like(const struct inet_socket *s, int fd, Term owner, const struct inet_address *remote)
{
	struct port *port = port_open_like(s->port, s->port->name, owner, NULL);
	struct inet_socket *c;

	if (port == NULL)
		return NULL;
	c = inet_new(port, s->protocol);
	port->driver_data = c;
	c->receive_one = s->receive_one;
	c->mode = s->mode;
	c->exit_on_close = s->exit_on_close;
	c->deliver = s->deliver;
	c->packet = s->packet;
	c->packet_bytes = s->packet_bytes;
	c->type = s->type;
	c->family = s->family;
	c->header_bytes = s->header_bytes;
	c->buffer_bytes = s->buffer_bytes;
	c->high_bytes = s->high_bytes;
	c->low_bytes = s->low_bytes;
	c->send_timeout_ms = s->send_timeout_ms;
	c->send_timeout_close = s->send_timeout_close;
	copy_busy_limits(c->port, s->port);
	c->show_econnreset = s->show_econnreset;
	c->reads_no_further = s->reads_no_further;
	c->linger_zero = s->linger_zero;
	c->delimiter = s->delimiter;
	c->remote = *remote;
	c->state = INET_OPEN | INET_CONNECTED;
	if (inet_take_fd(c, fd) != 0)
		c->state = 0;
	return c;
}

/* ---- who waits */

struct inet_op *inet_add_op(struct inet_socket *s, uint32_t timeout_ms)
{
	struct inet_op *op = mem_zalloc(sizeof(*op)), **at = &s->ops;

	op->id = s->next_op++;
	op->caller = s->port->caller;
	op->deadline_ms = timeout_ms != INET_INFINITY ? timer_now_ms() + timeout_ms : 0;
	while (*at != NULL)
		at = &(*at)->next;
	*at = op;
	return op;
}

void inet_end_op(struct inet_socket *s, struct inet_op *op)
{
	struct inet_op **at = &s->ops;

	while (*at != op)
		at = &(*at)->next;
	*at = op->next;
	if (op->monitor != 0)
		port_demonitor(s->port, op->caller, op->monitor);
	mem_free(op);
}

/* ---- opening */

static int get_family(unsigned tag)
{
	switch (tag) {
	case INET_AF_INET: return AF_INET;
	case INET_AF_INET6: return AF_INET6;
	case INET_AF_LOCAL: return AF_UNIX;
	default: return -1;
	}
}

static int get_type(unsigned tag)
{
	switch (tag) {
	case INET_TYPE_STREAM: return SOCK_STREAM;
	case INET_TYPE_DGRAM: return SOCK_DGRAM;
	case INET_TYPE_SEQPACKET: return SOCK_SEQPACKET;
	default: return -1;
	}
}

/* Another network namespace than the process's, for this thread and this call. Fails: -1, and errno. */
static int open_in_netns(const char *netns, int family, int type, int protocol)
{
	int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), other, fd = -1, error;

	if (own < 0)
		return -1;
	other = open(netns, O_RDONLY | O_CLOEXEC);
	if (other >= 0 && setns(other, CLONE_NEWNET) == 0) {
		fd = socket(family, type, protocol);
		error = errno;
		ENSURE(setns(own, CLONE_NEWNET) == 0); /* a scheduler elsewhere would make all sockets there */
		errno = error;
	}
	error = errno;
	if (other >= 0)
		close(other);
	close(own);
	errno = error;
	return fd;
}

static int open_fd(const struct inet_socket *s, int family, int type, bool multipath)
{
	int protocol = family == AF_UNIX ? 0 : multipath && type == SOCK_STREAM ? IPPROTO_MPTCP : s->protocol;
	int fd;

	type |= SOCK_CLOEXEC | SOCK_NONBLOCK;
	fd = s->netns != NULL ? open_in_netns(s->netns, family, type, protocol) : socket(family, type, protocol);
	if (fd < 0 && errno == ESOCKTNOSUPPORT && s->protocol == IPPROTO_SCTP)
		errno = EPROTONOSUPPORT; /* a kernel without SCTP has no other SOCK_SEQPACKET of the internet either */
	return fd;
}

/* The first two bytes of the data: family, type. Fails: false, answered. */
static bool get_kind(const uint8_t *data, int type, int *family, struct port_answer *a)
{
	*family = get_family(data[0]);
	if (*family < 0)
		inet_answer_word(a, "eafnosupport");
	else if (get_type(data[1]) != type)
		inet_answer_error(a, EINVAL);
	else
		return true;
	return false;
}

void inet_open(struct inet_socket *s, const uint8_t *data, size_t n, int type, struct port_answer *a)
{
	/* since OTP 28 a third byte names the protocol, of which only this one is another than the type's */
	enum { PROTOCOL_MPTCP = 4 };
	int family, fd, error;
	bool multipath = n == 3 && data[2] == PROTOCOL_MPTCP;

	if (n != 2 && n != 3) {
		inet_answer_error(a, EINVAL);
		return;
	}
	if (n == 3 && data[2] > PROTOCOL_MPTCP) {
		inet_answer_error(a, EPROTONOSUPPORT);
		return;
	}
	if (!get_kind(data, type, &family, a))
		return;
	if (s->state != 0) {
		inet_answer_word(a, "exbadseq");
		return;
	}
	fd = open_fd(s, family, type, multipath);
	error = fd < 0 ? -errno : inet_take_fd(s, fd);
	if (error != 0) {
		inet_answer_error(a, -error);
		return;
	}
	s->state = INET_OPEN;
	s->family = family;
	s->type = type;
	inet_answer_ok(a);
}

/* Is it a socket, bound, of that family? Fails: errno. */
static int check_bound(int fd, int family)
{
	struct inet_address name = { .size = sizeof(struct sockaddr_un) };

	if (getsockname(fd, &name.any, &name.size) < 0)
		return errno;
	return name.any.sa_family == family ? 0 : EINVAL;
}

/* A set of descriptors has each once: the socket has a copy of one that another port waits for already. */
static int take_foreign_fd(struct inet_socket *s, int fd)
{
	int error;

	s->prebound = true;
	error = inet_take_fd(s, fd);
	if (error != -EEXIST)
		return error;
	s->prebound = false;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : inet_take_fd(s, fd);
}

void inet_fdopen(struct inet_socket *s, const uint8_t *data, size_t n, int type, struct port_answer *a)
{
	struct inet_address peer = { .size = sizeof(struct sockaddr_un) };
	int family, fd, error = 0;

	if (n != 6 && n != 10) {
		inet_answer_error(a, EINVAL);
		return;
	}
	if (!get_kind(data, type, &family, a))
		return;
	fd = (int)inet_read32(data + 2);
	if (n == 6 || inet_read32(data + 6) != 0)
		error = check_bound(fd, family);
	if (error == 0)
		error = -take_foreign_fd(s, fd);
	if (error != 0) {
		inet_answer_error(a, error);
		return;
	}
	fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) | O_NONBLOCK);
	s->state = INET_OPEN;
	if (type == SOCK_STREAM && getpeername(fd, &peer.any, &peer.size) == 0)
		s->state |= INET_CONNECTED;
	s->family = family;
	s->type = type;
	inet_answer_ok(a);
}

void inet_listen(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	if (!(s->state & INET_OPEN)) {
		inet_answer_word(a, "exbadport");
	} else if (n != 2) {
		inet_answer_error(a, EINVAL);
	} else if (listen(s->fd, (int16_t)inet_read16(data)) < 0) {
		inet_answer_error(a, errno);
	} else {
		s->state = INET_OPEN | INET_LISTENS;
		inet_answer_ok(a);
	}
}

/* ---- names */

static void answer_address(struct port_answer *a, const struct inet_address *address)
{
	inet_answer_ok(a);
	if (inet_address_put(a, address))
		return;
	a->n = 0;
	inet_answer_error(a, EINVAL);
}

typedef int (*get_name)(int fd, struct sockaddr *to, socklen_t *size);

static bool find_name(const struct inet_socket *s, get_name get, struct inet_address *name)
{
	memset(name, 0, sizeof(*name));
	name->size = offsetof(struct inet_address, size);
	return get(s->fd, &name->any, &name->size) == 0;
}

static void ctl_peer(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct inet_address name;

	(void)data;
	(void)n;
	if (!(s->state & INET_CONNECTED))
		inet_answer_error(a, ENOTCONN);
	else if (s->peer_name != NULL)
		answer_address(a, s->peer_name);
	else if (find_name(s, getpeername, &name))
		answer_address(a, &name);
	else
		inet_answer_error(a, errno);
}

static void ctl_name(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct inet_address name;

	(void)data;
	(void)n;
	if (s->own_name != NULL)
		answer_address(a, s->own_name);
	else if (find_name(s, getsockname, &name))
		answer_address(a, &name);
	else
		inet_answer_error(a, errno);
}

static void set_name(struct inet_socket *s, struct inet_address **name, const uint8_t *data, size_t n,
		     struct port_answer *a)
{
	struct inet_address address;
	const char *error = NULL;

	if (n == 1)
		error = "einval";
	else if (n > 0)
		error = inet_address_read(&address, s->family, &data, &n);
	if (error != NULL) {
		inet_answer_word(a, error);
		return;
	}
	if (n == 0 && data == NULL) {
		mem_free(*name);
		*name = NULL;
	} else {
		if (*name == NULL)
			*name = mem_alloc(sizeof(**name));
		**name = address;
	}
	inet_answer_ok(a);
}

static void ctl_setpeer(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	set_name(s, &s->peer_name, n == 0 ? NULL : data, n, a);
}

static void ctl_setname(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	set_name(s, &s->own_name, n == 0 ? NULL : data, n, a);
}

static void answer_names(struct inet_socket *s, get_name get, size_t n, struct port_answer *a)
{
	struct inet_address name;

	if (n != 4)
		inet_answer_error(a, EINVAL);
	else if (!(s->state & INET_OPEN))
		inet_answer_word(a, exbadport);
	else if (!find_name(s, get, &name))
		inet_answer_error(a, errno);
	else
		answer_address(a, &name);
}

static void ctl_paddrs(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)data;
	answer_names(s, getpeername, n, a);
}

static void ctl_laddrs(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)data;
	answer_names(s, getsockname, n, a);
}

static void ctl_bind(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct inet_address address;
	const char *error;
	int port;

	if (n < 2 || s->state != INET_OPEN) {
		inet_answer_word(a, n < 2 ? "einval" : exbadport);
		return;
	}
	error = inet_address_read(&address, s->family, &data, &n);
	if (error != NULL) {
		inet_answer_word(a, error);
		return;
	}
	if (bind(s->fd, &address.any, address.size) < 0) {
		inet_answer_error(a, errno);
		return;
	}
	port = inet_address_port(&address);
	if (port == 0 && find_name(s, getsockname, &address))
		port = inet_address_port(&address);
	inet_answer_ok(a);
	put16(a, port > 0 ? (unsigned)port : 0);
}

/* ---- what it is, and what it did */

static void ctl_status(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)data;
	(void)n;
	inet_answer_ok(a);
	put32(a, s->state);
}

static void ctl_type(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	uint32_t family = s->family == AF_INET ? INET_AF_INET : s->family == AF_INET6 ? INET_AF_INET6 : INET_AF_LOCAL;

	(void)data;
	(void)n;
	if (s->family == 0) {
		inet_answer_error(a, EINVAL);
		return;
	}
	inet_answer_ok(a);
	put32(a, family);
	put32(a, s->type == SOCK_STREAM  ? INET_TYPE_STREAM
		 : s->type == SOCK_DGRAM ? INET_TYPE_DGRAM
					 : INET_TYPE_SEQPACKET);
}

static void ctl_fd(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)data;
	(void)n;
	if (!(s->state & INET_OPEN)) {
		inet_answer_error(a, EINVAL);
		return;
	}
	inet_answer_ok(a);
	put32(a, (uint32_t)s->fd);
}

enum { STAT_RECV_CNT = 1, STAT_RECV_MAX, STAT_RECV_AVG, STAT_RECV_DVI, STAT_SEND_CNT, STAT_SEND_MAX, STAT_SEND_AVG,
       STAT_SEND_PEND, STAT_RECV_OCT,
       STAT_SEND_OCT };

/* Fails: false, there is none of that number. */
static bool find_stat(const struct inet_socket *s, uint8_t number, uint64_t *value)
{
	switch (number) {
	case STAT_RECV_CNT: *value = s->received.count; return true;
	case STAT_RECV_MAX: *value = s->received.max; return true;
	case STAT_RECV_AVG: *value = (uint64_t)s->received.average; return true;
	case STAT_RECV_DVI: *value = (uint64_t)fabs(s->received.deviation); return true;
	case STAT_SEND_CNT: *value = s->sent.count; return true;
	case STAT_SEND_MAX: *value = s->sent.max; return true;
	case STAT_SEND_AVG: *value = (uint64_t)s->sent.average; return true;
	case STAT_SEND_PEND: *value = s->port->out.size_bytes; return true;
	case STAT_RECV_OCT: *value = s->received.bytes; return true;
	case STAT_SEND_OCT: *value = s->sent.bytes; return true;
	default: return false;
	}
}

static void ctl_stat(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	uint64_t value;

	inet_answer_ok(a);
	for (size_t k = 0; k < n && a->n < INET_ANSWER_MAX; k++) {
		if (!find_stat(s, data[k], &value)) {
			a->n = 0;
			inet_answer_error(a, EINVAL);
			return;
		}
		answer_put_byte(a, data[k]);
		if (data[k] == STAT_RECV_OCT || data[k] == STAT_SEND_OCT)
			put32(a, (uint32_t)(value >> 32));
		put32(a, (uint32_t)value);
	}
}

static void subscribe(struct inet_socket *s, Term who)
{
	s->subscribers = mem_realloc(s->subscribers, (s->subscriber_count + 1) * sizeof(Term));
	s->subscribers[s->subscriber_count++] = who;
}

static void ctl_subscribe(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	enum { EMPTY_OUT_Q = 1 };

	inet_answer_ok(a);
	for (size_t k = 0; k < n && a->n < INET_ANSWER_MAX; k++) {
		if (data[k] != EMPTY_OUT_Q) {
			a->n = 0;
			inet_answer_error(a, EINVAL);
			return;
		}
		if (s->port->out.size_bytes > 0)
			subscribe(s, s->port->caller);
		answer_put_byte(a, data[k]);
		put32(a, (uint32_t)s->port->out.size_bytes);
	}
}

static void ctl_getopts(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_answer_ok(a);
	if (inet_options_get(s, data, n, a))
		return;
	a->n = 0;
	inet_answer_error(a, EINVAL);
}

/* ---- the machine */

static void ctl_hostname(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	char name[HOST_NAME_BYTES];

	(void)s;
	(void)data;
	if (n != 0 || gethostname(name, sizeof(name)) < 0) {
		inet_answer_error(a, n != 0 ? EINVAL : errno);
		return;
	}
	inet_answer_ok(a);
	answer_put(a, name, strnlen(name, sizeof(name)));
}

/* A length and so many bytes, from the front. */
static bool take_text(const uint8_t **data, size_t *n, char text[256])
{
	size_t length = *n > 0 ? (*data)[0] : 1;

	if (length + 1 > *n)
		return false;
	memcpy(text, *data + 1, length);
	text[length] = 0;
	*data += length + 1;
	*n -= length + 1;
	return true;
}

static void ctl_servbyname(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	char name[256], protocol[256], scratch[1024];
	struct servent entry, *found = NULL;

	(void)s;
	if (take_text(&data, &n, name) && take_text(&data, &n, protocol))
		getservbyname_r(name, protocol, &entry, scratch, sizeof(scratch), &found);
	if (found == NULL) {
		inet_answer_error(a, EINVAL);
		return;
	}
	inet_answer_ok(a);
	put16(a, ntohs((uint16_t)found->s_port));
}

static void ctl_servbyport(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	char protocol[256], scratch[1024];
	struct servent entry, *found = NULL;
	unsigned port = n >= 2 ? inet_read16(data) : 0;

	(void)s;
	if (n >= 3) {
		data += 2;
		n -= 2;
		if (take_text(&data, &n, protocol))
			getservbyport_r(htons((uint16_t)port), protocol, &entry, scratch, sizeof(scratch), &found);
	}
	if (found == NULL) {
		inet_answer_error(a, EINVAL);
		return;
	}
	inet_answer_ok(a);
	answer_put(a, found->s_name, strlen(found->s_name));
}

static void ctl_iflist(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)data;
	(void)n;
	inet_list_interfaces(s, a);
}

static void ctl_ifaddrs(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)data;
	(void)n;
	inet_list_addresses(s, a);
}

static const struct {
	void (*run)(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);
	bool opened;             /* only then */
} commands[] = {
	[INET_REQ_PEER] = { ctl_peer, false },
	[INET_REQ_NAME] = { ctl_name, false },
	[INET_REQ_BIND] = { ctl_bind, false },
	[INET_REQ_GETOPTS] = { ctl_getopts, false },
	[INET_REQ_GETSTAT] = { ctl_stat, false },
	[INET_REQ_GETHOSTNAME] = { ctl_hostname, false },
	[INET_REQ_GETFD] = { ctl_fd, false },
	[INET_REQ_GETTYPE] = { ctl_type, false },
	[INET_REQ_GETSTATUS] = { ctl_status, false },
	[INET_REQ_GETSERVBYNAME] = { ctl_servbyname, false },
	[INET_REQ_GETSERVBYPORT] = { ctl_servbyport, false },
	[INET_REQ_SETNAME] = { ctl_setname, false },
	[INET_REQ_SETPEER] = { ctl_setpeer, false },
	[INET_REQ_GETIFLIST] = { ctl_iflist, true },
	[INET_REQ_IFGET] = { inet_get_interface, true },
	[INET_REQ_IFSET] = { inet_set_interface, true },
	[INET_REQ_SUBSCRIBE] = { ctl_subscribe, false },
	[INET_REQ_GETIFADDRS] = { ctl_ifaddrs, true },
	[INET_REQ_GETLADDRS] = { ctl_laddrs, false },
	[INET_REQ_GETPADDRS] = { ctl_paddrs, false },
};

void inet_control(struct inet_socket *s, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	if (command >= sizeof(commands) / sizeof(commands[0]) || commands[command].run == NULL)
		inet_answer_word(a, exbadport);
	else if (commands[command].opened && !(s->state & INET_OPEN))
		inet_answer_word(a, exbadport);
	else
		commands[command].run(s, data, n, a);
}

void inet_run(struct port *port, const struct inet_command_row *own, size_t count, unsigned command,
	      const uint8_t *data, size_t n, struct port_answer *a)
{
	struct inet_socket *s = port->driver_data;

	command -= INET_MAGIC;
	for (size_t i = 0; i < count; i++)
		if (own[i].command == command) {
			own[i].run(s, data, n, a);
			return;
		}
	inet_control(s, command, data, n, a);
}
