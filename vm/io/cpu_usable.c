/* SPDX-License-Identifier: Apache-2.0 */
/* A control group's quota: cpu.cfs_quota_us and cpu.cfs_period_us (version 1), cpu.max (version 2), in the group that
 * /proc/self/cgroup names and in those above it, up to where /proc/self/mountinfo says that groups are mounted: the
 * least of them holds. What cannot be read sets no limit. */
#include "io/cpu_usable.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 1024, LINE_ROOM = 4 * PATH_ROOM };
#define PATH_FORMAT "%1023s"

struct group {
	bool is_v2;
	char path[PATH_ROOM]; /* as the kernel names it, from the root of all groups */
};

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, word, n) == 0 && (at[n] == 0 || at[n] == ','))
			return true;
	}
	return false;
}

/* Lines NUMBER:CONTROLLERS:PATH; of version 2, 0::PATH. The cpu controller is in one of both. */
static bool find_group(struct group *g)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[LINE_ROOM];
	bool found = false;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		char *controllers = strchr(line, ':'),
		     *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
		bool is_v2;

		if (path == NULL)
			continue;
		*path++ = 0;
		path[strcspn(path, "\n")] = 0;
		is_v2 = *++controllers == 0;
		if ((is_v2 && found) || (!is_v2 && !has_word(controllers, "cpu")))
			continue;
		found = true;
		g->is_v2 = is_v2;
		snprintf(g->path, sizeof(g->path), "%.*s", PATH_ROOM - 1, path);
	}
	if (f != NULL)
		fclose(f);
	return found;
}

/* Lines ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS. root: the group that stands at
 * point. */
static bool is_mount_of(const char *line, bool is_v2, char *root, char *point)
{
	const char *rest = strstr(line, " - ");
	char type[16], options[PATH_ROOM];

	if (rest == NULL || sscanf(line, "%*s %*s %*s " PATH_FORMAT " " PATH_FORMAT, root, point) != 2 ||
	    sscanf(rest, " - %15s %*s " PATH_FORMAT, type, options) != 2)
		return false;
	return is_v2 ? strcmp(type, "cgroup2") == 0 : strcmp(type, "cgroup") == 0 && has_word(options, "cpu");
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Spaces and the like are written \ooo there. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at != 0; to++) {
		if (at[0] == '\\' && is_octal(at[1]) && is_octal(at[2]) && is_octal(at[3])) {
			*to = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
			at += 4;
		} else {
			*to = *at++;
		}
	}
	*to = 0;
}

/* The directory of the group's files; *top: so many bytes of it are where groups are mounted. */
static bool find_directory(const struct group *g, char *directory, size_t room, size_t *top)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[LINE_ROOM], root[PATH_ROOM], point[PATH_ROOM];
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		found = is_mount_of(line, g->is_v2, root, point);
	if (f != NULL)
		fclose(f);
	if (found) {
		size_t n;
		bool is_below;

		unescape(root);
		unescape(point);
		n = strcmp(root, "/") == 0 ? 0 : strlen(root);
		is_below = strncmp(g->path, root, n) == 0 && (g->path[n] == '/' || g->path[n] == 0);
		*top = strlen(point);
		snprintf(directory, room, "%s%s", point, is_below ? g->path + n : "");
	}
	return found;
}

static int read_numbers(const char *directory, const char *name, long long *a, long long *b)
{
	char path[3 * PATH_ROOM];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	n = fscanf(f, "%lld %lld", a, b);
	fclose(f);
	return n;
}

/* Of that directory. 0: there is none. */
static long long read_quota(const char *directory, bool is_v2)
{
	long long quota = 0, period = 0, none;

	if (is_v2)
		read_numbers(directory, "cpu.max", &quota, &period);
	else if (read_numbers(directory, "cpu.cfs_quota_us", &quota, &none) < 1 ||
		 read_numbers(directory, "cpu.cfs_period_us", &period, &none) < 1)
		return 0;
	if (quota <= 0 || period <= 0)
		return 0;
	return quota < period ? 1 : quota / period;
}

/* 0: there is none. */
static long long find_quota(void)
{
	char directory[2 * PATH_ROOM];
	long long least = 0;
	struct group g;
	size_t top;

	if (!find_group(&g) || !find_directory(&g, directory, sizeof(directory), &top))
		return 0;
	for (;;) {
		long long quota = read_quota(directory, g.is_v2);
		char *slash = strrchr(directory, '/');

		if (quota > 0 && (least == 0 || quota < least))
			least = quota;
		if (slash == NULL || (size_t)(slash - directory) < top)
			return least;
		*slash = 0;
	}
}

/* The kernel refuses a set that has not room for all the processors that it knows. 0: not known. */
static unsigned count_allowed(void)
{
	enum { LEAST = 1 << 10, MOST = 1 << 20 };
	unsigned count = 0;

	for (int n = LEAST; n <= MOST && count == 0; n *= 2) {
		cpu_set_t *set = CPU_ALLOC(n);
		size_t bytes = CPU_ALLOC_SIZE(n);

		if (set == NULL)
			return 0;
		if (sched_getaffinity(0, bytes, set) == 0)
			count = (unsigned)CPU_COUNT_S(bytes, set);
		else if (errno != EINVAL)
			n = MOST;
		CPU_FREE(set);
	}
	return count;
}

unsigned cpu_usable(unsigned online)
{
	long long quota = find_quota();
	unsigned n = online, allowed = count_allowed();

	if (allowed > 0 && allowed < n)
		n = allowed;
	if (quota > 0 && quota < (long long)n)
		n = (unsigned)quota;
	return n > 0 ? n : 1;
}
