#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
Asks a server at ADDRESS:PORT what no scraper would, and holds that it answers scrapers all the while.

hostile_http.py ADDRESS:PORT. Prints what is wrong, a line each, and ends with status 1 if anything is.
"""
import concurrent.futures
import itertools
import random
import socket
import sys
import threading

HOST, PORT = sys.argv[1].rsplit(":", 1)
PATIENCE_S = 60
wrong = []

# What is sent, and how the answer may begin; an empty one: the connection was closed without an answer.
CASES = [
    (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"GET /metrics?name[]=x HTTP/1.1\r\nHost: localhost\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"GET /metrics HTTP/1.0\r\n\r\n", [b"HTTP/1.0 200", b"HTTP/1.1 200"]),
    (b"GET /metrics/ HTTP/1.1\r\nHost: localhost\r\n\r\n", [b"HTTP/1.1 404"]),
    (b"GET //metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", [b"HTTP/1.1 404"]),
    (b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", [b"HTTP/1.1 404"]),
    (b"GET /%2e%2e/etc/passwd%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", [b"HTTP/1.1 404", b"HTTP/1.1 400"]),
    (b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", [b"HTTP/1.1 405"]),
    (b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
     [b"HTTP/1.1 405"]),
    (b"PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
     [b"HTTP/1.1 405", b"HTTP/1.1 400"]),
    (b"DELETE /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", [b"HTTP/1.1 405"]),
    (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: " + b"a/b," * 3000 + b"\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", [b"HTTP/1.1 414", b""]),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 100000 + b"\r\n",
     [b"HTTP/1.1 431", b"HTTP/1.1 413", b""]),
    (b"GET / HTTP/9.9\r\n\r\n", [b"HTTP/1.1 505", b"HTTP/1.1 400", b"HTTP/1.1 200", b""]),
    (b"\r\n\r\n\r\n\r\n", [b"HTTP/1.1 400", b""]),
    (b"\0" * 5000, [b"HTTP/1.1 400", b"HTTP/1.1 414", b""]),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10, [b"HTTP/1.1 400", b""]),
    (b"GET", [b"", b"HTTP/1.1 400"]),
    # Names that somebody else lets lead here; serve is told of node1.
    (b"GET /metrics HTTP/1.1\r\nHost: evil.example:9464\r\n\r\n", [b"HTTP/1.1 421"]),
    (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", [b"HTTP/1.1 421"]),
    (b"POST / HTTP/1.1\r\nHost: evil.example\r\n\r\n", [b"HTTP/1.1 421"]),
    (b"GET / HTTP/1.1\r\nHost: \r\n\r\n", [b"HTTP/1.1 421", b"HTTP/1.1 400"]),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", [b"HTTP/1.1 421", b"HTTP/1.1 400"]),
    (b"GET / HTTP/1.1\r\n\r\n", [b"HTTP/1.1 400"]),
    (b"GET / HTTP/1.1\r\nHost: Node1:9464\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"GET / HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"GET / HTTP/1.1\r\nHost: [::1]:9464\r\n\r\n", [b"HTTP/1.1 200"]),
]


def connect(source="127.0.0.1"):
    return socket.create_connection((HOST, int(PORT)), timeout=PATIENCE_S, source_address=(source, 0))


def ask(data, source="127.0.0.1"):
    """The answer, until the server closes: it serves one request a connection."""
    got = b""
    with connect(source) as s:
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            while True:
                piece = s.recv(1 << 16)
                if not piece:
                    break
                got += piece
        except (ConnectionResetError, BrokenPipeError):
            pass
    return got


def ask_all(asked):
    """
    Several at a time: what is no request keeps its connection until the server gives it up. Each client has few at a
    time: of one with many, the server ends the oldest, whatever they ask.
    """
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        return list(pool.map(ask, asked, itertools.cycle("127.0.2.%d" % i for i in range(1, 17))))


def check_cases():
    for (data, answers), got in zip(CASES, ask_all(data for data, _ in CASES)):
        if not any(got.startswith(a) if a else not got for a in answers):
            wrong.append("%r: %r" % (data[:60], got[:60]))
    if b"\r\nAllow: GET, HEAD\r\n" not in ask(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        wrong.append("405 does not say what is allowed")
    if ask(b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").split(b"\r\n\r\n", 1)[1]:
        wrong.append("HEAD has a body")


def check_noise():
    random.seed(23)
    letters = b"GET /metrics HTTP/1.1\r\n:;=, \0\xff"
    ask_all(bytes(random.choice(letters) for _ in range(random.randrange(200))) for _ in range(200))


class Slow:
    """Connections of one client that send a byte now and then, so that they are never silent for long."""

    def __init__(self, source, n):
        self.all = [connect(source) for _ in range(n)]
        for s in self.all:
            s.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.trickle)
        self.thread.start()

    def trickle(self):
        while not self.over.wait(0.5):
            for s in self.all:
                try:
                    s.send(b"x")
                except OSError:
                    pass

    def open(self, which):
        n = 0
        for s in self.all[which]:
            s.setblocking(False)
            try:
                n += s.recv(1) != b""
            except BlockingIOError:
                n += 1
            except OSError:
                pass
        return n

    def end(self):
        self.over.set()
        self.thread.join()
        for s in self.all:
            s.close()


def check_slow():
    """
    Slow ones, more than may connect, keep no scraper waiting: it is answered while the youngest of them are still
    there, whose time is not up. One client takes no connection from another.
    """
    few = Slow("127.0.0.2", 3)
    many = Slow("127.0.0.3", 80)
    scrape()
    if few.open(slice(0, 3)) != 3:
        wrong.append("a client with many connections ended those of one with few")
    if not 8 <= many.open(slice(-8, None)) <= many.open(slice(0, None)) <= 16:
        wrong.append("of 80 connections of a client %d are open" % many.open(slice(0, None)))
    own = Slow("127.0.0.1", 80)
    scrape()
    if own.open(slice(-8, None)) != 8:
        wrong.append("a scraper waits for slow connections from its own address")
    clients = [Slow("127.0.1.%d" % i, 10) for i in range(1, 11)]
    scrape()
    if few.open(slice(0, 3)) != 3:
        wrong.append("many clients ended the connections of one with few")
    for slow in (few, many, own, *clients):
        slow.end()


def scrape():
    got = ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    if not got.startswith(b"HTTP/1.1 200") or b"\nerlsnoop_sampling_ratio " not in got or got.endswith(b"# EOF\n"):
        wrong.append("no page: %r ... %r" % (got[:60], got[-60:]))
    got = ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\n\r\n")
    if not got.startswith(b"HTTP/1.1 200") or not got.endswith(b"# EOF\n"):
        wrong.append("no page of OpenMetrics: %r ... %r" % (got[:60], got[-60:]))


check_cases()
check_noise()
scrape()
check_slow()
scrape()
for line in wrong:
    print(line)
sys.exit(bool(wrong))
