/* SPDX-License-Identifier: Apache-2.0 */
/* A socket of the module socket: the resource behind {'$socket', Ref}, which the native functions of prim_socket work
 * on. Source of what they are given, answer and send: prim_socket.erl and socket.erl of OTP 25.
 * An operation that would block makes its caller the first of a lane (readers, writers, acceptors, the connector), asks
 * for {'$socket', Socket, select, Handle} and returns; the caller asks again when that has come. Others who want the
 * same meanwhile wait in the lane behind it: when the first is done, the next is selected for.
 * Locks: each side's is held over what reads, or writes, calls of the kernel included: the descriptor never blocks, but
 * in sock_finish_close, which has taken it out before. So one process that receives and another that sends do not wait
 * for each other. A side's state, lanes, counters and sizes of buffers are its own; the descriptor, the owner, who
 * closes and what OTP's own options say are changed with both locks held, and read with either.
 * Invariant: fd is -1 from when CLOSED is set. The descriptor is closed after who polls has let go of it. */
#ifndef VM_SOCKET_SOCK_H
#define VM_SOCKET_SOCK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/lock.h"
#include "heap/heap.h"
#include "nif/nif_api.h"
#include "nif/nif_env.h"
#include "term/atom.h"

enum {
	SOCK_BOUND = 1,
	SOCK_LISTENING = 2,
	SOCK_ACCEPTING = 4,
	SOCK_CONNECTING = 8,
	SOCK_CONNECTED = 16,
	SOCK_SELECTED = 32,
	SOCK_CLOSING = 64,
	SOCK_CLOSED = 128,
};
enum sock_side { SOCK_READ, SOCK_WRITE, SOCK_SIDES };
enum sock_lane_kind { SOCK_READERS, SOCK_WRITERS, SOCK_ACCEPTORS, SOCK_CONNECTOR, SOCK_LANES };

struct sock_waiter {
	struct sock_waiter *next;
	struct nif_pid pid;
	struct nif_monitor monitor;
	bool is_monitored;
	struct nif_env *env; /* owned: where ref is */
	Term ref;            /* of the operation; the atom zero of one that does not wait */
};

struct sock_lane {
	struct sock_waiter *first; /* whose turn it is */
	struct sock_waiter *last;
};

#define SOCK_COUNTERS(X) \
	X(read_byte) X(read_fails) X(read_pkg) X(read_pkg_max) X(read_tries) X(read_waits) \
	X(write_byte) X(write_fails) X(write_pkg) X(write_pkg_max) X(write_tries) X(write_waits) \
	X(acc_success) X(acc_fails) X(acc_tries) X(acc_waits)
#define SOCK_FILE_COUNTERS(X) \
	X(sendfile) X(sendfile_byte) X(sendfile_fails) X(sendfile_max) X(sendfile_pkg) X(sendfile_pkg_max) \
	X(sendfile_tries) X(sendfile_waits)
#define SOCK_COUNTER(name) SOCK_COUNT_##name,
enum sock_counter { SOCK_COUNTERS(SOCK_COUNTER) SOCK_FILE_COUNTERS(SOCK_COUNTER) SOCK_COUNTER_KINDS };
#undef SOCK_COUNTER

enum { SOCK_BUFFER_BYTES = 8192, SOCK_CONTROL_BYTES = 1024 };

struct sock {
	struct lock locks[SOCK_SIDES];
	int fd, domain, type, protocol;
	int original_fd;     /* what it was opened from; -1: nothing */
	bool close_fd;       /* closing it closes the descriptor */
	bool use_registry, debug, iow;
	unsigned state[SOCK_SIDES];
	struct sock_lane lanes[SOCK_LANES];
	struct nif_pid owner, closer; /* TERM_NONE: none */
	struct nif_monitor owner_monitor, closer_monitor;
	bool closer_monitored;
	struct nif_env *close_env; /* owned: where close_ref is; NULL: nobody waits until who polls has let go */
	Term close_ref;
	struct nif_env *meta_env; /* owned */
	Term meta;
	size_t buffer_bytes, control_in_bytes, control_out_bytes;
	struct nif_binary kept; /* what came for who wants more: the buffer it came to; owned; of the reading side */
	size_t kept_bytes;      /* of which so many; 0: there is no buffer */
	unsigned buffer_count, buffers_read; /* so many full buffers are read at once; those so far */
	uint64_t counters[SOCK_COUNTER_KINDS];
	uint64_t read_now, written_now; /* bytes of the package that is not whole yet */
	int file;            /* that is being sent; -1: none */
	bool has_sent_files;
	uint64_t file_now;   /* bytes of it */
};

static inline bool sock_is_open(const struct sock *s, enum sock_side side)
{
	return (s->state[side] & (SOCK_CLOSED | SOCK_CLOSING)) == 0;
}
/* Both sides. */
static inline void sock_lock(struct sock *s)
{
	lock_acquire(&s->locks[SOCK_READ]);
	lock_acquire(&s->locks[SOCK_WRITE]);
}
static inline void sock_unlock(struct sock *s)
{
	lock_release(&s->locks[SOCK_WRITE]);
	lock_release(&s->locks[SOCK_READ]);
}
static inline void sock_count(struct sock *s, enum sock_counter c, uint64_t n) { s->counters[c] += n; }
static inline void sock_count_max(struct sock *s, enum sock_counter c, uint64_t n)
{
	if (n > s->counters[c])
		s->counters[c] = n;
}

/* ---- sock.c: its life */
struct sock_setting { bool use_registry, debug, socket_debug, iow; };
/* The resource type is opened, what load_info says is kept. */
bool sock_load(struct nif_env *env, Term load_info);
struct sock_setting *sock_settings(void);
/* NULL: t is no socket. */
struct sock *sock_from_term(struct nif_env *env, Term t);
/* Owner: the process that calls. Takes: fd, which is made one that does not block. Returns the reference. */
struct sock *sock_new(int fd, int domain, int type, int protocol);
Term sock_enter(struct nif_env *env, struct sock *s);
/* A map of how many sockets there are, of which kinds. */
Term sock_put_totals(struct heap *h);
/* For the resource type. */
void sock_down(struct nif_env *env, void *object, struct nif_pid *pid, struct nif_monitor *monitor);
void sock_dtor(struct nif_env *env, void *object);
void sock_stop(struct nif_env *env, void *object, int fd, int is_direct);
void sock_tell_registry(struct nif_env *env, struct sock *s, Term what);
/* The owner is dead, or gave it to one that is. */
void sock_lose_owner(struct nif_env *env, struct sock *s);
Term sock_close(struct nif_env *env, int argc, const Term *argv);
Term sock_finish_close(struct nif_env *env, int argc, const Term *argv);

/* ---- sock_lane.c: who waits. The lock of the lane's side is held, both where no lane is named. */
static inline struct sock_waiter *sock_first(const struct sock *s, enum sock_lane_kind k) { return s->lanes[k].first; }
bool sock_waits_first(const struct sock *s, enum sock_lane_kind k, struct nif_env *env);
/* The caller is not to try now: another is at it, behind whom it waits from now on; *answer says so. */
bool sock_must_wait(struct nif_env *env, struct sock *s, enum sock_lane_kind k, Term ref, Term *answer);
/* The first, who is the caller, asks anew: it is told that its request by the old reference is cancelled, unless that
 * has been answered. */
void sock_replace_first(struct nif_env *env, struct sock *s, enum sock_lane_kind k);
/* The caller is the first, which it may be already, by this reference. */
void sock_become_first(struct nif_env *env, struct sock *s, enum sock_lane_kind k, Term ref);
/* The first asks for its message. Fails: false with *answer an exception: the lane's next are selected for. */
bool sock_select_first(struct nif_env *env, struct sock *s, enum sock_lane_kind k, Term *answer);
/* The first is done: the next has its turn. */
void sock_next(struct nif_env *env, struct sock *s, enum sock_lane_kind k);
/* All of the lane are told {abort, {Ref, Reason}}, the first only when tells_first. */
void sock_abort_lane(struct nif_env *env, struct sock *s, enum sock_lane_kind k, Term reason, bool tells_first);
void sock_forget_lane(struct nif_env *env, struct sock *s, enum sock_lane_kind k);
/* A process that waits is dead. */
void sock_lose_waiter(struct nif_env *env, struct sock *s, const struct nif_pid *pid);
Term sock_count_waiters(const struct sock *s, enum sock_lane_kind k);
/* Term: nif_cancel(Socket, Operation, Ref) */
Term sock_cancel(struct nif_env *env, int argc, const Term *argv);

/* ---- answers */
static inline Term sock_ok(struct nif_env *env, Term t) { return heap_tuple(env->heap, am_ok, t); }
static inline Term sock_error(struct nif_env *env, Term reason) { return heap_tuple(env->heap, am_error, reason); }
static inline Term sock_invalid(struct nif_env *env, Term what) { return heap_tuple(env->heap, am_invalid, what); }
static inline Term sock_error_invalid(struct nif_env *env, Term what)
{
	return sock_error(env, sock_invalid(env, what));
}
static inline Term sock_raise_invalid(struct nif_env *env, Term what)
{
	return enif_raise_exception(env, sock_invalid(env, what));
}
Term sock_errno(struct nif_env *env, int error);
/* t is no int (or no unsigned 64-bit number): badarg, or {invalid, {integer_range, t}}. */
Term sock_bad_integer(struct nif_env *env, Term t);
/* Those of a tuple. */
static inline const Term *sock_elements(Term tuple) { return boxed_ptr(tuple) + 1; }
static inline Term sock_bool(bool b) { return b ? am_true : am_false; }
/* Fails: false: neither true nor false. */
static inline bool sock_get_bool(Term t, bool *b) { return *b = t == am_true, t == am_true || t == am_false; }
/* The value of a key of a map; TERM_NONE: none, or no map. */
Term sock_map_get(Term map, Term key);
static inline bool sock_is_ref(struct nif_env *env, Term t) { return enif_term_type(env, t) == NIF_IS_REFERENCE; }

/* ---- the native functions of prim_socket */
Term sock_connect(struct nif_env *env, int argc, const Term *argv);    /* sock_connect.c */
Term sock_accept(struct nif_env *env, int argc, const Term *argv);
/* The lock of from's reading side is held. A socket of its kind, with its settings. Takes: fd. */
Term sock_enter_from(struct nif_env *env, struct sock *from, int fd);
Term sock_send(struct nif_env *env, int argc, const Term *argv);       /* sock_send.c */
Term sock_sendto(struct nif_env *env, int argc, const Term *argv);
Term sock_sendmsg(struct nif_env *env, int argc, const Term *argv);
Term sock_sendv(struct nif_env *env, int argc, const Term *argv);
Term sock_sendmmsg(struct nif_env *env, int argc, const Term *argv);
Term sock_recv(struct nif_env *env, int argc, const Term *argv);       /* sock_recv.c */
Term sock_recvfrom(struct nif_env *env, int argc, const Term *argv);
Term sock_recvmsg(struct nif_env *env, int argc, const Term *argv);
Term sock_recvmmsg(struct nif_env *env, int argc, const Term *argv);
Term sock_bind_several(struct nif_env *env, int argc, const Term *argv); /* sock_association.c */
Term sock_peeloff(struct nif_env *env, int argc, const Term *argv);
Term sock_names(struct nif_env *env, int argc, const Term *argv);
Term sock_peer_names(struct nif_env *env, int argc, const Term *argv);
Term sock_setopt(struct nif_env *env, int argc, const Term *argv);     /* sock_options.c */
Term sock_getopt(struct nif_env *env, int argc, const Term *argv);
Term sock_put_options(struct nif_env *env);
/* What sockets' options are of: names and numbers of protocols. */
enum { SOCK_LEVELS = 5 };
extern const struct sock_level {
	Term name;
	int number;
} sock_levels[SOCK_LEVELS];
/* Options that are structures of SCTP, the numbers of sock_options.def that say so (sock_sctp.c). */
enum { SOCK_SCTP_BYTES = 32 };
/* A map into *to, which has room for SOCK_SCTP_BYTES: how many are set; 0: it is no such map. */
size_t sock_sctp_read(struct nif_env *env, int number, Term map, void *to);
size_t sock_sctp_bytes(int number);
Term sock_sctp_put(struct heap *h, int number, const void *bytes);
Term sock_ioctl(struct nif_env *env, int argc, const Term *argv);      /* sock_ioctl.c */
Term sock_put_ioctls(struct nif_env *env);
Term sock_put_ioctl_flags(struct nif_env *env);
Term sock_sendfile(struct nif_env *env, int argc, const Term *argv);   /* sock_file.c */
Term sock_end_sendfile(struct nif_env *env, int argc, const Term *argv);
/* The file that a dead process was sending is closed. */
void sock_drop_file(struct sock *s);

/* What send(2) and its like said of `bytes` bytes, more of which follow in the next part (has_more): the answer. */
Term sock_sent(struct nif_env *env, struct sock *s, ssize_t sent, size_t bytes, bool has_more, Term ref);
/* The caller may not send now: *answer. */
bool sock_may_not_send(struct nif_env *env, struct sock *s, Term ref, Term *answer);

#endif
