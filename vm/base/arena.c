/* SPDX-License-Identifier: Apache-2.0 */
/* malloc_trim gives back the free pages between the blocks of all arenas, but of the free memory at an arena's end only
 * the main arena's. That of another arena goes when a block of at least 64 KB is freed there while the end is larger
 * than M_TRIM_THRESHOLD. So each arena has a block, the marker, whose last 64 KB are freed and taken again for that.
 * Invariant: a marker that stands in `markers` is touched by nobody but the thread that trims. */
#include "base/arena.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { MARKERS = 1 << 10, MARKER_BYTES = 64, MARKER_WHOLE_BYTES = 72 << 10, TRIMMED_FROM_BYTES = 1 << 20 };
/* glibc gets addresses for an arena in aligned parts of so much: markers in one part are in one arena. Where it was
 * told to take less (huge pages), arenas share a part, and some are not trimmed. */
enum { PART_SHIFT = 26 };

static struct {
	atomic_size_t count;
	_Atomic(void *) markers[MARKERS];
} arena;

void arena_mark_own(void)
{
	size_t i = atomic_load_explicit(&arena.count, memory_order_relaxed);

	if (i < MARKERS && (i = atomic_fetch_add_explicit(&arena.count, 1, memory_order_relaxed)) < MARKERS)
		atomic_store_explicit(&arena.markers[i], malloc(MARKER_WHOLE_BYTES), memory_order_release);
}

static size_t marker_count(void)
{
	size_t count = atomic_load_explicit(&arena.count, memory_order_relaxed);

	return count < MARKERS ? count : MARKERS;
}

static void *marker_at(size_t i)
{
	return atomic_load_explicit(&arena.markers[i], memory_order_acquire);
}

/* Threads share arenas: one marker in each is enough. */
static bool has_another(size_t i, void *marker)
{
	for (size_t k = 0; k < i; k++) {
		void *other = marker_at(k);

		if (other != NULL && (uintptr_t)other >> PART_SHIFT == (uintptr_t)marker >> PART_SHIFT)
			return true;
	}
	return false;
}

static void *trim_at(void *marker)
{
	void *small = realloc(marker, MARKER_BYTES), *whole = realloc(small, MARKER_WHOLE_BYTES);

	return whole != NULL ? whole : small;
}

void arena_trim_all(size_t kept_bytes)
{
	size_t count = marker_count();

	malloc_trim(0);
	mallopt(M_TRIM_THRESHOLD, TRIMMED_FROM_BYTES);
	for (size_t i = 0; i < count; i++) {
		void *marker = marker_at(i);

		if (marker == NULL)
			continue;
		if (has_another(i, marker)) {
			free(marker);
			marker = NULL;
		} else {
			marker = trim_at(marker);
		}
		atomic_store_explicit(&arena.markers[i], marker, memory_order_relaxed);
	}
	mallopt(M_TRIM_THRESHOLD, (int)kept_bytes);
}
