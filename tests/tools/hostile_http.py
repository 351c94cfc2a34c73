#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
Asks a server at ADDRESS:PORT what no scraper would, and holds that it answers scrapers all the while.

hostile_http.py ADDRESS:PORT. Prints what is wrong, a line each, and ends with status 1 if anything is.
"""
import concurrent.futures
import random
import socket
import sys

HOST, PORT = sys.argv[1].rsplit(":", 1)
PATIENCE_S = 60
wrong = []

# What is sent, and how the answer may begin; an empty one: the connection was closed without an answer.
CASES = [
    (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"GET /metrics?name[]=x HTTP/1.1\r\nHost: a\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"GET /metrics HTTP/1.0\r\n\r\n", [b"HTTP/1.0 200", b"HTTP/1.1 200"]),
    (b"GET /metrics/ HTTP/1.1\r\nHost: a\r\n\r\n", [b"HTTP/1.1 404"]),
    (b"GET //metrics HTTP/1.1\r\nHost: a\r\n\r\n", [b"HTTP/1.1 404"]),
    (b"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", [b"HTTP/1.1 404"]),
    (b"GET /%2e%2e/etc/passwd%00 HTTP/1.1\r\nHost: a\r\n\r\n", [b"HTTP/1.1 404"]),
    (b"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", [b"HTTP/1.1 405"]),
    (b"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n",
     [b"HTTP/1.1 405"]),
    (b"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", [b"HTTP/1.1 405", b"HTTP/1.1 400"]),
    (b"DELETE /metrics HTTP/1.1\r\nHost: a\r\n\r\n", [b"HTTP/1.1 405"]),
    (b"GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: " + b"a/b," * 3000 + b"\r\n\r\n", [b"HTTP/1.1 200"]),
    (b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", [b"HTTP/1.1 414", b""]),
    (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 100000 + b"\r\n", [b"HTTP/1.1 431", b"HTTP/1.1 413", b""]),
    (b"GET / HTTP/9.9\r\n\r\n", [b"HTTP/1.1 505", b"HTTP/1.1 400", b"HTTP/1.1 200", b""]),
    (b"\r\n\r\n\r\n\r\n", [b"HTTP/1.1 400", b""]),
    (b"\0" * 5000, [b"HTTP/1.1 400", b"HTTP/1.1 414", b""]),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10, [b"HTTP/1.1 400", b""]),
    (b"GET", [b"", b"HTTP/1.1 400"]),
]


def connect():
    return socket.create_connection((HOST, int(PORT)), timeout=PATIENCE_S)


def ask(data):
    """The answer, until the server closes: it serves one request a connection."""
    got = b""
    with connect() as s:
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
    """Several at a time: what is no request keeps its connection until the server gives it up."""
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        return list(pool.map(ask, asked))


def check_cases():
    for (data, answers), got in zip(CASES, ask_all(data for data, _ in CASES)):
        if not any(got.startswith(a) if a else not got for a in answers):
            wrong.append("%r: %r" % (data[:60], got[:60]))
    if b"\r\nAllow: GET, HEAD\r\n" not in ask(b"POST / HTTP/1.1\r\nHost: a\r\n\r\n"):
        wrong.append("405 does not say what is allowed")
    if ask(b"HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n").split(b"\r\n\r\n", 1)[1]:
        wrong.append("HEAD has a body")


def check_noise():
    random.seed(23)
    letters = b"GET /metrics HTTP/1.1\r\n:;=, \0\xff"
    ask_all(bytes(random.choice(letters) for _ in range(random.randrange(200))) for _ in range(200))


def check_idle():
    """More than may connect say nothing, or begin and stop: a scraper is answered nevertheless."""
    idle = []
    for i in range(80):
        s = connect()
        if i % 2:
            s.sendall(b"GET /metr")
        idle.append(s)
    scrape()
    for s in idle:
        s.close()


def scrape():
    got = ask(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
    if not got.startswith(b"HTTP/1.1 200") or not got.endswith(b"# EOF\n"):
        wrong.append("no page: %r ... %r" % (got[:60], got[-60:]))


check_cases()
check_noise()
scrape()
check_idle()
scrape()
for line in wrong:
    print(line)
sys.exit(bool(wrong))
