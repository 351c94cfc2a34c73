/* SPDX-License-Identifier: Apache-2.0 */
/* A node in C for cnode_calls.erl, with the library ei. It listens at a port whose number it prints, serves a node after the
 * other, and answers calls of gen_server: types (of all messages of this connection so far), pid (its own), ref (one of its
 * own), {echo, T}, and close, after which it ends the connection. Says what went wrong when it did not end it itself.
 * arguments: its name, its cookie
 * build: cnode_calls */
#include <arpa/inet.h>
#include <ei.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TYPES_MAX = 1000 };

static struct {
	ei_cnode node;
	int fd;
	long types[TYPES_MAX];
	int count;
	int closes;
} c;

/* The answer: {Tag, Reply}. `at`: where the request begins. */
static void put_reply(ei_x_buff *y, const char *request, int at)
{
	char atom[MAXATOMLEN_UTF8] = "";
	int arity, begin = at;
	erlang_ref ref;

	if (ei_decode_tuple_header(request, &at, &arity) == 0 && arity == 2) { /* {echo, T} */
		ei_skip_term(request, &at);
		begin = at;
		ei_skip_term(request, &at);
		ei_x_append_buf(y, request + begin, at - begin);
		return;
	}
	at = begin;
	ei_decode_atom(request, &at, atom);
	if (strcmp(atom, "types") == 0) {
		for (int i = 0; i < c.count; i++) {
			ei_x_encode_list_header(y, 1);
			ei_x_encode_long(y, c.types[i]);
		}
		ei_x_encode_empty_list(y);
	} else if (strcmp(atom, "pid") == 0) {
		ei_x_encode_pid(y, ei_self(&c.node));
	} else if (strcmp(atom, "ref") == 0 && ei_make_ref(&c.node, &ref) == 0) {
		ei_x_encode_ref(y, &ref);
	} else {
		c.closes = strcmp(atom, "close") == 0;
		ei_x_encode_atom(y, "ok");
	}
}

/* {'$gen_call', {Pid, Tag}, Request} */
static void answer(const char *message)
{
	int at = 0, tag, version, arity;
	char atom[MAXATOMLEN_UTF8];
	erlang_pid pid;
	ei_x_buff y;

	if (ei_decode_version(message, &at, &version) != 0 || ei_decode_tuple_header(message, &at, &arity) != 0 ||
	    arity != 3 || ei_decode_atom(message, &at, atom) != 0 || ei_decode_tuple_header(message, &at, &arity) != 0 ||
	    ei_decode_pid(message, &at, &pid) != 0)
		return;
	tag = at;
	ei_skip_term(message, &at);
	ei_x_new_with_version(&y);
	ei_x_encode_tuple_header(&y, 2);
	ei_x_append_buf(&y, message + tag, at - tag);
	put_reply(&y, message, at);
	ei_send(c.fd, &pid, y.buff, y.index);
	ei_x_free(&y);
}

static void serve(void)
{
	erlang_msg m;
	ei_x_buff x;
	int got;

	c.count = c.closes = 0;
	ei_x_new(&x);
	while (!c.closes) {
		x.index = 0;
		got = ei_xreceive_msg(c.fd, &m, &x);
		if (got == ERL_TICK)
			continue;
		if (got == ERL_ERROR) {
			printf("lost: error %d\n", erl_errno);
			break;
		}
		if (c.count < TYPES_MAX)
			c.types[c.count++] = m.msgtype;
		if (m.msgtype == ERL_REG_SEND || m.msgtype == ERL_SEND)
			answer(x.buff);
	}
	ei_x_free(&x);
	close(c.fd);
}

/* The port that started us is closed, or its VM has ended. */
static void *end_with_port(void *arg)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	_exit(0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t watcher;

	struct in_addr address = { htonl(INADDR_LOOPBACK) };
	ErlConnect peer;
	int port = 0, listens;
	char alive[100] = "";

	if (argc != 3 || sscanf(argv[1], "%99[^@]", alive) != 1)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (pthread_create(&watcher, NULL, end_with_port, NULL) != 0)
		return 6;
	ei_init();
	if (ei_connect_xinit(&c.node, "127.0.0.1", alive, argv[1], &address, argv[2], 1) < 0)
		return 3;
	listens = ei_xlisten(&c.node, &address, &port, 5);
	if (listens < 0)
		return 4;
	printf("%d\n", port);
	while ((c.fd = ei_accept(&c.node, listens, &peer)) >= 0)
		serve();
	printf("no accept: error %d\n", erl_errno);
	return 5;
}
