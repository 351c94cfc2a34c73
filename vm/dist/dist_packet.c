/* SPDX-License-Identifier: Apache-2.0 */
#include "dist/dist_packet.h"

#include "base/alloc.h"
#include "term/atom.h"

enum {
	HEADER_VERSION = 131, HEADER_WHOLE = 68, HEADER_FIRST = 69, HEADER_NEXT = 70,
	CACHE_ATOMS = 2048, SEGMENT_ATOMS = 256,
	NEW_ATOM = 8,        /* of the four bits of an atom; the other three are its segment */
	LONG_ATOMS = 1,      /* of the four bits behind those of the last atom */
	SEQUENCE_BUCKETS = 256, SEQUENCES_MAX = 65536,
};

/* ---- in */

/* A message of which some fragments came. */
struct sequence {
	struct sequence *next;
	uint64_t id, left;   /* left: fragments to come */
	struct binary *bytes; /* its first size_bytes are what came, the rest is room for more */
	size_t size_bytes;
	unsigned atom_count;
	Term atoms[];
};

struct dist_reader {
	struct lock lock;
	Term cache[CACHE_ATOMS];     /* TERM_NONE: nothing came for it */
	struct sequence *buckets[SEQUENCE_BUCKETS];
	size_t sequence_count;
	size_t held_bytes, held_max_bytes; /* of all sequences */
};

struct dist_reader *dist_reader_new(size_t held_max_bytes)
{
	struct dist_reader *r = mem_zalloc(sizeof(*r));

	lock_init(&r->lock, LOCK_dist_reader);
	r->held_max_bytes = held_max_bytes;
	for (size_t i = 0; i < CACHE_ATOMS; i++)
		r->cache[i] = TERM_NONE;
	return r;
}

static void free_sequence(struct sequence *s)
{
	binary_unref(s->bytes);
	mem_free(s);
}

void dist_reader_free(struct dist_reader *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < SEQUENCE_BUCKETS; i++) {
		while (r->buckets[i] != NULL) {
			struct sequence *s = r->buckets[i];

			r->buckets[i] = s->next;
			free_sequence(s);
		}
	}
	lock_destroy(&r->lock);
	mem_free(r);
}

struct cursor {
	const uint8_t *at, *end;
	bool failed;
};

/* The next n bytes. Fails: NULL. */
static const uint8_t *take(struct cursor *c, size_t n)
{
	const uint8_t *at = c->at;

	if (c->failed || (size_t)(c->end - at) < n) {
		c->failed = true;
		return NULL;
	}
	c->at += n;
	return at;
}

static uint64_t take_be(struct cursor *c, unsigned bytes)
{
	const uint8_t *at = take(c, bytes);
	uint64_t value = 0;

	for (unsigned i = 0; at != NULL && i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

/* The four bits of the atom at that place. */
static unsigned bits_of(const uint8_t *flags, unsigned place)
{
	return flags[place / 2] >> 4 * (place % 2) & 15;
}

/* An atom that the cache gets, or has. Fails: TERM_NONE. */
static Term read_atom(struct dist_reader *r, struct cursor *c, unsigned bits, unsigned length_bytes)
{
	Term *entry = &r->cache[(bits & 7) * SEGMENT_ATOMS + take_be(c, 1)];
	const uint8_t *text;
	size_t n;

	if (!(bits & NEW_ATOM))
		return *entry;
	n = take_be(c, length_bytes);
	text = take(c, n);
	if (text == NULL)
		return TERM_NONE;
	*entry = atom_from_utf8((const char *)text, n, NULL);
	return *entry;
}

/* How many atoms, their bits, the atoms. Fails: false. */
static bool read_atoms(struct dist_reader *r, struct cursor *c, struct dist_terms *t)
{
	const uint8_t *flags;

	t->atom_count = (unsigned)take_be(c, 1);
	if (t->atom_count == 0)
		return !c->failed;
	flags = take(c, t->atom_count / 2 + 1);
	for (unsigned i = 0; !c->failed && i < t->atom_count; i++) {
		unsigned length_bytes = bits_of(flags, t->atom_count) & LONG_ATOMS ? 2 : 1;

		t->atoms[i] = read_atom(r, c, bits_of(flags, i), length_bytes);
		c->failed |= t->atoms[i] == TERM_NONE;
	}
	return !c->failed;
}

static struct sequence **find_sequence(struct dist_reader *r, uint64_t id)
{
	struct sequence **at = &r->buckets[id % SEQUENCE_BUCKETS];

	while (*at != NULL && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

/* Room for n more bytes. Fails: false. */
static bool make_room(struct sequence *s, size_t n)
{
	size_t wanted = s->size_bytes + n, room = s->bytes->size_bytes;
	struct binary *bytes;

	if (wanted <= room)
		return true;
	bytes = binary_resize(s->bytes, 2 * room > wanted ? 2 * room : wanted);
	if (bytes == NULL)
		return false;
	s->bytes = bytes;
	return true;
}

/* The rest of a fragment. Fails: false, there is no room for it. */
static bool add_bytes(struct dist_reader *r, struct sequence *s, const struct cursor *c)
{
	size_t n = (size_t)(c->end - c->at);

	if (n == 0)
		return true;
	if (n > r->held_max_bytes - r->held_bytes || !make_room(s, n))
		return false;
	memcpy(s->bytes->data + s->size_bytes, c->at, n);
	s->size_bytes += n;
	r->held_bytes += n;
	return true;
}

static enum dist_read read_whole(const struct cursor *c, struct dist_terms *t)
{
	t->bytes = c->at;
	t->size_bytes = (size_t)(c->end - c->at);
	return DIST_READ_WHOLE;
}

/* Fails: NULL, there is no room for it. */
static struct sequence *make_sequence(uint64_t id, uint64_t left, const struct dist_terms *t)
{
	struct binary *bytes = binary_new(0);
	struct sequence *s;

	if (bytes == NULL)
		return NULL;
	s = mem_zalloc(sizeof(*s) + t->atom_count * sizeof(Term));
	s->id = id;
	s->left = left;
	s->bytes = bytes;
	s->atom_count = t->atom_count;
	term_copy(s->atoms, t->atoms, t->atom_count);
	return s;
}

static enum dist_read read_first(struct dist_reader *r, struct cursor *c, struct dist_terms *t)
{
	uint64_t id = take_be(c, 8), count = take_be(c, 8);
	struct sequence **at, *s;

	if (!read_atoms(r, c, t) || count == 0)
		return DIST_READ_BAD;
	if (count == 1)
		return read_whole(c, t);
	at = find_sequence(r, id);
	if (*at != NULL || r->sequence_count == SEQUENCES_MAX)
		return DIST_READ_BAD;
	s = make_sequence(id, count - 1, t);
	if (s == NULL)
		return DIST_READ_BAD;
	*at = s;
	r->sequence_count++;
	return add_bytes(r, s, c) ? DIST_READ_PART : DIST_READ_BAD;
}

static enum dist_read read_next(struct dist_reader *r, struct cursor *c, struct dist_terms *t)
{
	uint64_t id = take_be(c, 8), left = take_be(c, 8);
	struct sequence **at = find_sequence(r, id), *s = *at;

	if (c->failed || s == NULL || s->left != left || !add_bytes(r, s, c))
		return DIST_READ_BAD;
	if (--s->left > 0)
		return DIST_READ_PART;
	*at = s->next;
	r->sequence_count--;
	r->held_bytes -= s->size_bytes;
	t->owned = binary_resize(s->bytes, s->size_bytes);
	t->bytes = t->owned->data;
	t->size_bytes = s->size_bytes;
	t->atom_count = s->atom_count;
	term_copy(t->atoms, s->atoms, s->atom_count);
	mem_free(s);
	return DIST_READ_WHOLE;
}

static enum dist_read read_packet(struct dist_reader *r, struct cursor *c, struct dist_terms *t)
{
	if (take_be(c, 1) != HEADER_VERSION)
		return DIST_READ_BAD;
	switch (take_be(c, 1)) {
	case HEADER_WHOLE:
		return read_atoms(r, c, t) ? read_whole(c, t) : DIST_READ_BAD;
	case HEADER_FIRST:
		return read_first(r, c, t);
	case HEADER_NEXT:
		return read_next(r, c, t);
	default:
		return DIST_READ_BAD;
	}
}

enum dist_read dist_reader_read(struct dist_reader *r, const uint8_t *bytes, size_t n, struct dist_terms *t)
{
	struct cursor c = { .at = bytes, .end = bytes + n };
	enum dist_read result;

	t->owned = NULL;
	lock_acquire(&r->lock);
	result = read_packet(r, &c, t);
	lock_release(&r->lock);
	return result;
}

/* ---- out */

struct dist_writer {
	Term cache[CACHE_ATOMS];     /* TERM_NONE: free */
	uint64_t sequence;           /* the last one's number */
};

struct dist_writer *dist_writer_new(void)
{
	struct dist_writer *w = mem_alloc(sizeof(*w));

	for (size_t i = 0; i < CACHE_ATOMS; i++)
		w->cache[i] = TERM_NONE;
	w->sequence = 0;
	return w;
}

void dist_writer_free(struct dist_writer *w)
{
	mem_free(w);
}

static uint8_t *write_be(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = bytes; i-- > 0;)
		*at++ = (uint8_t)(value >> 8 * i);
	return at;
}

static unsigned cache_index(Term atom)
{
	return atom_index(atom) % CACHE_ATOMS;
}

/* Of the atoms and their number. *longest: of the text of a new one. */
static size_t count_atoms(const struct dist_writer *w, const struct dist_message *m, size_t *longest)
{
	size_t bytes = 1 + (m->atom_count > 0 ? m->atom_count / 2 + 1 : 0), n;

	*longest = 0;
	for (unsigned i = 0; i < m->atom_count; i++) {
		bytes++;
		if (w->cache[cache_index(m->atoms[i])] == m->atoms[i])
			continue;
		atom_text(m->atoms[i], &n);
		bytes += 2 + n;
		*longest = n > *longest ? n : *longest;
	}
	return bytes;
}

/* The atom at that place of a header; the cache has it then. */
static uint8_t *write_atom(struct dist_writer *w, uint8_t *at, uint8_t *flags, unsigned place, Term atom,
			   unsigned length_bytes)
{
	unsigned index = cache_index(atom), bits = index / SEGMENT_ATOMS;
	bool is_new = w->cache[index] != atom;
	const char *text;
	size_t n;

	flags[place / 2] |= (uint8_t)((bits | (is_new ? NEW_ATOM : 0)) << 4 * (place % 2));
	*at++ = (uint8_t)(index % SEGMENT_ATOMS);
	if (!is_new)
		return at;
	w->cache[index] = atom;
	text = atom_text(atom, &n);
	at = write_be(at, n, length_bytes);
	memcpy(at, text, n);
	return at + n;
}

/* Invariant of m: no two of its atoms have the same place in the cache. */
static uint8_t *write_atoms(struct dist_writer *w, const struct dist_message *m, uint8_t *at, bool long_atoms)
{
	uint8_t *flags = at + 1;

	*at++ = m->atom_count;
	if (m->atom_count == 0)
		return at;
	memset(flags, 0, m->atom_count / 2 + 1u);
	at += m->atom_count / 2 + 1;
	if (long_atoms)
		flags[m->atom_count / 2] |= (uint8_t)(LONG_ATOMS << 4 * (m->atom_count % 2));
	for (unsigned i = 0; i < m->atom_count; i++)
		at = write_atom(w, at, flags, i, m->atoms[i], long_atoms ? 2 : 1);
	return at;
}

static void set_head_room(struct dist_packet *p, size_t n)
{
	p->head = n <= sizeof(p->fixed) ? p->fixed : mem_alloc(n);
}

enum { FRAGMENT_HEAD_BYTES = 18 };

static void write_head(struct dist_writer *w, const struct dist_message *m, struct dist_packet *p, unsigned kind)
{
	size_t longest, room = FRAGMENT_HEAD_BYTES + count_atoms(w, m, &longest);
	uint8_t *at;

	set_head_room(p, room);
	at = p->head;
	*at++ = HEADER_VERSION;
	*at++ = (uint8_t)kind;
	if (kind != HEADER_WHOLE) {
		at = write_be(at, m->sequence, 8);
		at = write_be(at, m->fragments_left, 8);
	}
	if (kind != HEADER_NEXT)
		at = write_atoms(w, m, at, longest > UINT8_MAX);
	p->head_bytes = (size_t)(at - p->head);
}

static void add_part(struct dist_packet *p, struct binary *b, const uint8_t *bytes, size_t n)
{
	ENSURE(p->part_count < DIST_PARTS_MAX);
	p->parts[p->part_count].binary = b;
	p->parts[p->part_count].bytes = bytes;
	p->parts[p->part_count++].size_bytes = n;
	p->size_bytes += n;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Of the next piece, n bytes at most. Returns how many. */
static size_t add_piece(struct dist_packet *p, struct dist_message *m, size_t n)
{
	const struct etf_piece *piece = &m->pieces.all[m->pieces_sent];

	n = smaller(n, piece->size_bytes - m->piece_sent_bytes);
	add_part(p, piece->binary, piece->bytes + m->piece_sent_bytes, n);
	m->piece_sent_bytes += n;
	if (m->piece_sent_bytes == piece->size_bytes) {
		m->pieces_sent++;
		m->piece_sent_bytes = 0;
	}
	return n;
}

/* Of what stands before the next piece, n bytes at most. Returns how many; 0: all of that is sent,
 * and the piece comes now. */
static size_t add_written(struct dist_packet *p, struct dist_message *m, size_t n)
{
	bool last = m->pieces_sent == m->pieces.count;
	size_t end = last ? m->payload->size_bytes : m->pieces.all[m->pieces_sent].at;

	n = smaller(n, end - m->written_sent_bytes);
	if (n > 0)
		add_part(p, m->payload, m->payload->data + m->written_sent_bytes, n);
	m->written_sent_bytes += n;
	return n;
}

/* The next n bytes of the payload, which has them. */
static void add_payload(struct dist_packet *p, struct dist_message *m, size_t n)
{
	m->payload_sent_bytes += n;
	while (n > 0) {
		n -= add_written(p, m, n);
		if (n > 0)
			n -= add_piece(p, m, n);
	}
}

/* Without a header. */
static void set_plain(struct dist_packet *p, struct dist_message *m)
{
	p->head = p->fixed;
	p->fixed[0] = PASS_THROUGH;
	p->head_bytes = 1;
	add_part(p, m->control, m->control->data, m->control->size_bytes);
	add_payload(p, m, m->payload_bytes);
}

/* The control tuple is in the first fragment, whole. */
static void begin_fragments(struct dist_writer *w, struct dist_message *m, size_t control_bytes, size_t payload_bytes)
{
	size_t first = control_bytes < DIST_FRAGMENT_BYTES ? DIST_FRAGMENT_BYTES - control_bytes : 0;

	m->fragments_left = 1;
	if (payload_bytes > first)
		m->fragments_left += (payload_bytes - first + DIST_FRAGMENT_BYTES - 1) / DIST_FRAGMENT_BYTES;
	m->sequence = ++w->sequence;
}

/* Terms behind a header have no version. What was put while the connection was pending has one. */
static void set_with_header(struct dist_writer *w, struct dist_message *m, struct dist_packet *p, bool fragments)
{
	size_t version = m->refers ? 0 : 1, control_bytes = m->control->size_bytes - version;
	size_t payload_bytes = m->payload != NULL ? m->payload_bytes - version : 0, n = payload_bytes, room;
	bool first = m->fragments_left == 0;

	if (first)
		m->written_sent_bytes = version;
	if (first && fragments && payload_bytes > 0)
		begin_fragments(w, m, control_bytes, payload_bytes);
	if (m->fragments_left > 1 || !first) {
		room = !first                                ? DIST_FRAGMENT_BYTES
		       : control_bytes < DIST_FRAGMENT_BYTES ? DIST_FRAGMENT_BYTES - control_bytes
							     : 0;
		n = smaller(payload_bytes - m->payload_sent_bytes, room);
		write_head(w, m, p, first ? HEADER_FIRST : HEADER_NEXT);
	} else {
		write_head(w, m, p, HEADER_WHOLE);
	}
	if (first)
		add_part(p, m->control, m->control->data + version, control_bytes);
	add_payload(p, m, n);
	if (m->fragments_left > 0)
		m->fragments_left--;
}

bool dist_packet_take(struct channel *c, struct dist_packet *p)
{
	struct dist_message *m = channel_take(c);

	if (m == NULL)
		return false;
	p->message = m;
	p->part_count = 0;
	p->size_bytes = 0;
	if (c->writer == NULL)
		set_plain(p, m);
	else
		set_with_header(c->writer, m, p, (c->flags & DIST_FRAGMENTS) != 0);
	p->size_bytes += p->head_bytes;
	return true;
}

void dist_packet_done(struct channel *c, struct dist_packet *p)
{
	if (p->head != p->fixed)
		mem_free(p->head);
	channel_done(c, p->message);
	atomic_fetch_add_explicit(&c->sent, 1, memory_order_relaxed);
}
