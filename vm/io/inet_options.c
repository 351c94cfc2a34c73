/* SPDX-License-Identifier: Apache-2.0 */
/* Options of sockets: those that the kernel keeps (inet_options.def), those that the driver does, and few of their own
 * form. A list of options is a number and its value, over and over. */
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/alloc.h"
#include "io/inet_sctp.h"

enum { DATAGRAM_BUFFER_MAX = 1 << 16 };

static const struct inet_kernel_option kernel_options[] = {
#define OPTION(number, level, name, told, sctp, sctp_name) \
	[number] = { level, name, told, true, INET_SCTP_##sctp, sctp_name },
#include "io/inet_options.def"
};

const struct inet_kernel_option *inet_find_option(unsigned number)
{
	bool there = number < sizeof(kernel_options) / sizeof(kernel_options[0]) && kernel_options[number].there;

	return there ? &kernel_options[number] : NULL;
}

/* What is left of a list. */
struct list {
	const uint8_t *at;
	size_t n;
};

static bool take(struct list *l, size_t n, const uint8_t **bytes)
{
	if (l->n < n)
		return false;
	*bytes = l->at;
	l->at += n;
	l->n -= n;
	return true;
}

static bool take32(struct list *l, int32_t *value)
{
	const uint8_t *at;

	if (!take(l, 4, &at))
		return false;
	*value = (int32_t)inet_read32(at);
	return true;
}

static bool is_stream(const struct inet_socket *s)
{
	return s->protocol == IPPROTO_TCP;
}

static bool is_sctp(const struct inet_socket *s)
{
	return s->protocol == IPPROTO_SCTP;
}

/* ---- setting */

static void note_control_option(struct inet_socket *s, unsigned number, bool on)
{
	unsigned bit = number == OPT_RECVTOS      ? INET_CONTROL_TOS
		       : number == OPT_RECVTCLASS ? INET_CONTROL_TCLASS
						  : INET_CONTROL_TTL;

	if (number == OPT_RECVTOS || number == OPT_RECVTCLASS || number == OPT_RECVTTL)
		s->control_options = on ? s->control_options | bit : s->control_options & ~bit;
}

/* Unless the user chose it, what is read at once grows with what the kernel keeps; a datagram is never larger. */
static void fit_buffer(struct inet_socket *s, int32_t bytes)
{
	if (bytes < 0 || (s->buffer_set && !is_sctp(s)))
		return;
	if (bytes > DATAGRAM_BUFFER_MAX && s->protocol == IPPROTO_UDP)
		s->buffer_bytes = DATAGRAM_BUFFER_MAX;
	else if ((uint32_t)bytes > s->buffer_bytes)
		s->buffer_bytes = (uint32_t)bytes;
}

/* The kernel derives a priority from the type of service, which the user may have set. */
static int set_and_keep_priority(const struct inet_socket *s, const struct inet_kernel_option *o, int32_t value)
{
	int priority;
	socklen_t size = sizeof(priority);
	bool kept = getsockopt(s->fd, SOL_SOCKET, SO_PRIORITY, &priority, &size) == 0;
	int result = setsockopt(s->fd, o->level, o->name, &value, sizeof(value));

	if (result == 0 && kept)
		setsockopt(s->fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority));
	return result;
}

static bool set_kernel_option(struct inet_socket *s, unsigned number, const struct inet_kernel_option *o, int32_t value)
{
	int result;

	if (number == OPT_RCVBUF)
		fit_buffer(s, value);
	if (number == OPT_TOS || number == OPT_TCLASS)
		result = set_and_keep_priority(s, o, value);
	else
		result = setsockopt(s->fd, o->level, o->name, &value, sizeof(value));
	if (result == 0)
		note_control_option(s, number, value != 0);
	return result == 0 || !(o->told || is_sctp(s));
}

/* A number after active: how many more messages. */
static bool set_active(struct inet_socket *s, struct list *l, int32_t value)
{
	const uint8_t *at;

	if (value != INET_MULTI) {
		s->active = (enum inet_active)value;
		s->active_count = 0;
		return value >= INET_PASSIVE && value <= INET_ONCE;
	}
	if (!take(l, 2, &at))
		return false;
	value = s->active_count + (int16_t)inet_read16(at);
	if (value > INT16_MAX || value < INT16_MIN)
		return false;
	s->active_count = value > 0 ? value : 0;
	s->active = s->active_count > 0 ? INET_MULTI : INET_PASSIVE;
	if (s->active == INET_PASSIVE)
		inet_tell_passive(s);
	return true;
}

static bool set_text(char **to, struct list *l, int32_t n)
{
	const uint8_t *at;

	if (n < 0 || !take(l, (size_t)n, &at))
		return false;
	mem_free(*to);
	*to = mem_alloc((size_t)n + 1);
	memcpy(*to, at, (size_t)n);
	(*to)[n] = 0;
	return true;
}

static void set_watermarks(struct inet_socket *s, uint32_t *changed, int32_t value)
{
	*changed = value > 0 ? (uint32_t)value : 0;
	if (changed == &s->high_bytes && s->low_bytes > s->high_bytes)
		s->low_bytes = s->high_bytes;
	if (changed == &s->low_bytes && s->high_bytes < s->low_bytes)
		s->high_bytes = s->low_bytes;
}

/* The limits of the port; one that is 0 remains as it is. Fails: false, the other is not positive. */
static bool set_busy_limits(struct inet_socket *s, int32_t low, int32_t high)
{
	size_t to_low = (size_t)low, to_high = (size_t)high;

	if (low < 0 || high < 0 || low + high == 0)
		return false;
	port_busy_limits(s->port, &to_low, &to_high);
	return true;
}

/* The driver's own. Fails: false, also when it is none of them. */
static bool set_own(struct inet_socket *s, unsigned number, int32_t value, struct list *l)
{
	switch (number) {
	case LOPT_BUFFER:
		s->buffer_bytes = value < 1 ? 1 : (uint32_t)value;
		s->buffer_set = true;
		return true;
	case LOPT_HEADER: s->header_bytes = (uint32_t)value; return true;
	case LOPT_ACTIVE: return set_active(s, l, value);
	case LOPT_PACKET:
		s->packet = value;
		return value >= 0 && value <= 14;
	case LOPT_MODE: s->mode = value; return true;
	case LOPT_DELIVER: s->deliver = value; return true;
	case LOPT_EXIT_ON_CLOSE: s->exit_on_close = value != 0; return true;
	case LOPT_HIGH: set_watermarks(s, &s->high_bytes, value); return true;
	case LOPT_LOW: set_watermarks(s, &s->low_bytes, value); return true;
	case LOPT_SEND_TIMEOUT: s->send_timeout_ms = (uint32_t)value; return true;
	case LOPT_SEND_TIMEOUT_CLOSE: s->send_timeout_close = value != 0; return true;
	case LOPT_DELAY_SEND: s->delay_send = value != 0; return true;
	case LOPT_PACKET_SIZE: s->packet_bytes = (uint32_t)value; return true;
	case LOPT_READ_PACKETS:
		if (!is_stream(s) && value > 0)
			s->read_packets = (uint32_t)value;
		return is_stream(s) || value > 0;
	case LOPT_MESSAGE_HIGH: return set_busy_limits(s, 0, value);
	case LOPT_MESSAGE_LOW: return set_busy_limits(s, value, 0);
	case LOPT_NETNS: return set_text(&s->netns, l, value);
	case LOPT_SHOW_ECONNRESET: s->show_econnreset = value != 0; return true;
	case LOPT_LINE_DELIMITER: s->delimiter = (uint8_t)value; return true;
	case LOPT_READ_AHEAD: s->reads_no_further = value == 0; return true;
	case LOPT_NON_BLOCK_SEND: s->sends_or_fails = is_sctp(s) && value != 0; return true;
	case OPT_EXCLUSIVEADDRUSE: return true;
	case LOPT_DEBUG: s->debug = value != 0; return true;
	default: return false;
	}
}

static bool set_linger(struct inet_socket *s, int32_t on, struct list *l)
{
	struct linger value = { .l_onoff = on };
	int32_t seconds;

	if (!take32(l, &seconds))
		return false;
	value.l_linger = seconds;
	s->linger_zero = is_stream(s) && on != 0 && seconds == 0;
	setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &value, sizeof(value));
	return true;
}

static bool set_multicast_if(struct inet_socket *s, int32_t value)
{
	bool six = s->family == AF_INET6;
	int raw = (int)htonl((uint32_t)value);

	if (s->family != AF_INET && !six)
		return false;
	if (six)
		setsockopt(s->fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &value, sizeof(value));
	else
		setsockopt(s->fd, IPPROTO_IP, IP_MULTICAST_IF, &raw, sizeof(raw));
	return true;
}

/* Family, index of the interface, address of the group; of IPv4 that of the interface as well. */
static bool set_membership(struct inet_socket *s, bool add, int32_t family, struct list *l)
{
	const uint8_t *group, *own;
	int32_t index;

	if (!take32(l, &index))
		return false;
	if (family == INET_AF_INET && s->family == AF_INET && take(l, 4, &group) && take(l, 4, &own)) {
		struct ip_mreqn m = { .imr_ifindex = index };

		memcpy(&m.imr_multiaddr, group, 4);
		memcpy(&m.imr_address, own, 4);
		setsockopt(s->fd, IPPROTO_IP, add ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, &m, sizeof(m));
		return true;
	}
	if (family == INET_AF_INET6 && s->family == AF_INET6 && take(l, 16, &group)) {
		struct ipv6_mreq m = { .ipv6mr_interface = (unsigned)index };

		memcpy(&m.ipv6mr_multiaddr, group, 16);
		setsockopt(s->fd, IPPROTO_IPV6, add ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP, &m, sizeof(m));
		return true;
	}
	return false;
}

/* Level, name and value as they are. */
static bool set_raw(struct inet_socket *s, int32_t level, struct list *l)
{
	int32_t name, n;
	const uint8_t *value;

	if (!take32(l, &name) || !take32(l, &n) || n < 0 || !take(l, (size_t)n, &value))
		return false;
	setsockopt(s->fd, level, name, value, (socklen_t)n);
	return true;
}

static bool set_device(struct inet_socket *s, int32_t n, struct list *l)
{
	char name[IFNAMSIZ] = { 0 };
	const uint8_t *at;

	if (n < 0 || n >= IFNAMSIZ || !take(l, (size_t)n, &at))
		return false;
	memcpy(name, at, (size_t)n);
	return setsockopt(s->fd, SOL_SOCKET, SO_BINDTODEVICE, name, sizeof(name)) == 0;
}

/* Those that an SCTP socket has, beside its own records. */
static bool is_of_sctp(unsigned number)
{
	const struct inet_kernel_option *o = inet_find_option(number);

	if (o != NULL)
		return o->sctp != INET_SCTP_NONE;
	switch (number) {
	case OPT_LINGER:
	case OPT_BIND_TO_DEVICE:
	case LOPT_BUFFER:
	case LOPT_MODE:
	case LOPT_ACTIVE:
	case LOPT_NETNS:
	case OPT_EXCLUSIVEADDRUSE:
	case LOPT_NON_BLOCK_SEND:
	case LOPT_DEBUG: return true;
	default: return false;
	}
}

static bool set_one(struct inet_socket *s, unsigned number, int32_t value, struct list *l)
{
	const struct inet_kernel_option *o = inet_find_option(number);

	if (is_sctp(s) && !is_of_sctp(number))
		return false;
	if (o != NULL)
		return set_kernel_option(s, number, o, value);
	switch (number) {
	case OPT_LINGER: return set_linger(s, value, l);
	case OPT_MULTICAST_IF: return set_multicast_if(s, value);
	case OPT_ADD_MEMBERSHIP: return set_membership(s, true, value, l);
	case OPT_DROP_MEMBERSHIP: return set_membership(s, false, value, l);
	case OPT_RAW: return set_raw(s, value, l);
	case OPT_BIND_TO_DEVICE: return set_device(s, value, l);
	default: return set_own(s, number, value, l);
	}
}

bool inet_options_set(struct inet_socket *s, const uint8_t *data, size_t n, struct inet_change *change)
{
	enum inet_active active = s->active;
	int packet = s->packet;
	struct list l = { data, n };

	*change = (struct inet_change){ .was_passive = active == INET_PASSIVE };
	while (l.n >= 5) {
		unsigned number = l.at[0];
		bool record = false;
		int32_t value;

		l.at++;
		l.n--;
		if (is_sctp(s) && inet_sctp_set(s, number, &l.at, &l.n, &record))
			continue;
		if (record || !take32(&l, &value) || !set_one(s, number, value, &l))
			return false;
		if (number == LOPT_ACTIVE && is_stream(s) && s->active != INET_PASSIVE && s->state == 0 && s->type != 0)
			change->closed = true;
	}
	change->active = active != s->active;
	change->packet = packet != s->packet;
	return true;
}

/* ---- getting */

static void put32(struct port_answer *a, uint32_t v)
{
	answer_put(a, (uint8_t[]){ (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v }, 4);
}

static void put_option(struct port_answer *a, unsigned number, uint32_t value)
{
	answer_put_byte(a, number);
	put32(a, value);
}

/* What a list of options cannot be had of is left out. */
static void get_kernel_option(const struct inet_socket *s, unsigned number, const struct inet_kernel_option *o,
			      struct port_answer *a)
{
	int value = 0;
	socklen_t size = sizeof(value);

	if (getsockopt(s->fd, o->level, o->name, &value, &size) == 0)
		put_option(a, number, (uint32_t)value);
}

static void get_active(const struct inet_socket *s, struct port_answer *a)
{
	put_option(a, LOPT_ACTIVE, s->active);
	if (s->active == INET_MULTI)
		answer_put(a, (uint8_t[]){ (uint8_t)(s->active_count >> 8), (uint8_t)s->active_count }, 2);
}

static uint32_t busy_limit(const struct inet_socket *s, bool is_high)
{
	size_t low = 0, high = 0, limit;

	port_busy_limits(s->port, &low, &high);
	limit = is_high ? high : low;
	return limit > INT_MAX ? INT_MAX : (uint32_t)limit;
}

/* Fails: false, it is none of them. left_out: of the other kind of sockets. */
static bool get_own(const struct inet_socket *s, unsigned number, uint32_t *value, bool *left_out)
{
	bool stream = is_stream(s);

	*left_out = false;
	switch (number) {
	case LOPT_BUFFER: *value = s->buffer_bytes; return true;
	case LOPT_HEADER: *value = s->header_bytes; return true;
	case LOPT_PACKET: *value = (uint32_t)s->packet; return true;
	case LOPT_MODE: *value = (uint32_t)s->mode; return true;
	case LOPT_DELIVER: *value = (uint32_t)s->deliver; return true;
	case LOPT_EXIT_ON_CLOSE: *value = s->exit_on_close; return true;
	case LOPT_PACKET_SIZE: *value = s->packet_bytes; return true;
	case LOPT_MESSAGE_HIGH: *value = busy_limit(s, true); return true;
	case LOPT_MESSAGE_LOW: *value = busy_limit(s, false); return true;
	case LOPT_DEBUG: *value = s->debug; return true;
	case LOPT_NON_BLOCK_SEND: *value = s->sends_or_fails; return true;
	case OPT_EXCLUSIVEADDRUSE: *value = 0; return true;
	case LOPT_HIGH: *value = s->high_bytes; *left_out = !stream; return true;
	case LOPT_LOW: *value = s->low_bytes; *left_out = !stream; return true;
	case LOPT_SEND_TIMEOUT: *value = s->send_timeout_ms; *left_out = !stream; return true;
	case LOPT_SEND_TIMEOUT_CLOSE: *value = s->send_timeout_close; *left_out = !stream; return true;
	case LOPT_DELAY_SEND: *value = s->delay_send; *left_out = !stream; return true;
	case LOPT_SHOW_ECONNRESET: *value = s->show_econnreset; *left_out = !stream; return true;
	case LOPT_READ_AHEAD: *value = !s->reads_no_further; *left_out = !stream; return true;
	case LOPT_READ_PACKETS: *value = s->read_packets; *left_out = stream; return true;
	default: return false;
	}
}

static void get_linger(const struct inet_socket *s, struct port_answer *a)
{
	struct linger value = { 0 };
	socklen_t size = sizeof(value);

	if (getsockopt(s->fd, SOL_SOCKET, SO_LINGER, &value, &size) < 0)
		return;
	put_option(a, OPT_LINGER, (uint32_t)value.l_onoff);
	put32(a, (uint32_t)value.l_linger);
}

static bool get_multicast_if(const struct inet_socket *s, struct port_answer *a)
{
	bool six = s->family == AF_INET6;
	int value = 0;
	socklen_t size = sizeof(value);

	if (s->family != AF_INET && !six)
		return false;
	if (getsockopt(s->fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_MULTICAST_IF : IP_MULTICAST_IF, &value,
		       &size) < 0)
		return true;
	put_option(a, OPT_MULTICAST_IF, six ? (uint32_t)value : ntohl((uint32_t)value));
	put32(a, six ? INET_AF_INET6 : INET_AF_INET);
	return true;
}

/* Level, name, whether a value is given, its size, the value: it is what getsockopt begins with. */
static bool get_raw(const struct inet_socket *s, struct list *l, struct port_answer *a)
{
	const uint8_t *head, *given = NULL;
	uint8_t *value;
	socklen_t size;

	if (!take(l, 13, &head))
		return false;
	size = inet_read32(head + 9);
	if (a->n + 13 + (size_t)size > INET_ANSWER_MAX || (head[8] != 0 && !take(l, size, &given)))
		return false;
	value = mem_zalloc(size + 1);
	if (given != NULL)
		memcpy(value, given, size);
	if (getsockopt(s->fd, (int)inet_read32(head), (int)inet_read32(head + 4), value, &size) == 0) {
		answer_put_byte(a, OPT_RAW);
		answer_put(a, head, 8);
		put32(a, size);
		answer_put(a, value, size);
	}
	mem_free(value);
	return true;
}

static void get_device(const struct inet_socket *s, struct port_answer *a)
{
	char name[IFNAMSIZ];
	socklen_t size = sizeof(name);

	if (getsockopt(s->fd, SOL_SOCKET, SO_BINDTODEVICE, name, &size) < 0)
		return;
	size = (socklen_t)strnlen(name, size);
	put_option(a, OPT_BIND_TO_DEVICE, size);
	answer_put(a, name, size);
}

static void get_netns(const struct inet_socket *s, struct port_answer *a)
{
	if (s->netns == NULL)
		return;
	put_option(a, LOPT_NETNS, (uint32_t)strlen(s->netns));
	answer_put(a, s->netns, strlen(s->netns));
}

static unsigned option_of_message(const struct cmsghdr *c)
{
	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
		return OPT_TOS;
	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL)
		return OPT_TTL;
	return c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS ? OPT_TCLASS : 0;
}

/* The control data of a stream's last packet, as options. */
static bool get_packet_options(const struct inet_socket *s, struct port_answer *a)
{
	union {
		struct cmsghdr align;
		char bytes[4 * CMSG_SPACE(sizeof(int))];
	} raw = { 0 };
	struct msghdr m = { .msg_control = raw.bytes };
	struct port_answer list;
	socklen_t size = sizeof(raw.bytes);
	bool six = s->family == AF_INET6;

	if (s->family != AF_INET && !six)
		return false;
	if (getsockopt(s->fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_2292PKTOPTIONS : IP_PKTOPTIONS, raw.bytes,
		       &size) < 0)
		return true;
	m.msg_controllen = size;
	answer_init(&list);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c != NULL; c = CMSG_NXTHDR(&m, c)) {
		int value = 0;
		size_t n = c->cmsg_len - CMSG_LEN(0);

		memcpy(&value, CMSG_DATA(c), n < sizeof(value) ? n : sizeof(value));
		if (option_of_message(c) != 0)
			put_option(&list, option_of_message(c), (uint32_t)value);
	}
	put_option(a, OPT_PKTOPTIONS, (uint32_t)list.n);
	answer_put(a, list.bytes, list.n);
	answer_free(&list);
	return true;
}

static bool get_one(const struct inet_socket *s, unsigned number, struct list *l, struct port_answer *a)
{
	const struct inet_kernel_option *o = inet_find_option(number);
	uint32_t value;
	bool left_out;

	if (o != NULL) {
		get_kernel_option(s, number, o, a);
		return true;
	}
	switch (number) {
	case OPT_LINGER: get_linger(s, a); return true;
	case LOPT_ACTIVE: get_active(s, a); return true;
	case LOPT_NETNS: get_netns(s, a); return true;
	case OPT_BIND_TO_DEVICE: get_device(s, a); return true;
	case OPT_MULTICAST_IF: return get_multicast_if(s, a);
	case OPT_RAW: return get_raw(s, l, a);
	case OPT_PKTOPTIONS: return get_packet_options(s, a);
	default: break;
	}
	if (!get_own(s, number, &value, &left_out))
		return false;
	if (!left_out)
		put_option(a, number, value);
	return true;
}

bool inet_options_get(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct list l = { data, n };

	while (l.n > 0) {
		unsigned number = *l.at;

		l.at++;
		l.n--;
		if (a->n > INET_ANSWER_MAX || !get_one(s, number, &l, a))
			return false;
	}
	return true;
}
