/* SPDX-License-Identifier: Apache-2.0 */
/* A control group's quota: cpu.cfs_quota_us and cpu.cfs_period_us (version 1), cpu.max (version 2), in the group that
 * /proc/self/cgroup names, below where /proc/self/mountinfo says that groups are mounted. What cannot be read sets no
 * limit. */
#include "io/cpu_usable.h"

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
		char *controllers = strchr(line, ':'), *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
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

/* Lines ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS. root: the group that stands at point. */
static bool is_mount_of(const char *line, bool is_v2, char *root, char *point)
{
	const char *rest = strstr(line, " - ");
	char type[16], options[PATH_ROOM];

	if (rest == NULL || sscanf(line, "%*s %*s %*s " PATH_FORMAT " " PATH_FORMAT, root, point) != 2 ||
	    sscanf(rest, " - %15s %*s " PATH_FORMAT, type, options) != 2)
		return false;
	return is_v2 ? strcmp(type, "cgroup2") == 0 : strcmp(type, "cgroup") == 0 && has_word(options, "cpu");
}

/* The directory of the group's files. */
static bool find_directory(const struct group *g, char *directory, size_t room)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[LINE_ROOM], root[PATH_ROOM], point[PATH_ROOM];
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		found = is_mount_of(line, g->is_v2, root, point);
	if (f != NULL)
		fclose(f);
	if (found) {
		size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
		bool is_below = strncmp(g->path, root, n) == 0 && (g->path[n] == '/' || g->path[n] == 0);

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

/* 0: there is none. */
static long long find_quota(void)
{
	long long quota = 0, period = 0, none;
	char directory[2 * PATH_ROOM];
	struct group g;

	if (!find_group(&g) || !find_directory(&g, directory, sizeof(directory)))
		return 0;
	if (g.is_v2)
		read_numbers(directory, "cpu.max", &quota, &period);
	else if (read_numbers(directory, "cpu.cfs_quota_us", &quota, &none) < 1 ||
		 read_numbers(directory, "cpu.cfs_period_us", &period, &none) < 1)
		return 0;
	if (quota <= 0 || period <= 0)
		return 0;
	return quota < period ? 1 : quota / period;
}

unsigned cpu_usable(unsigned online)
{
	long long quota = find_quota();
	unsigned n = online;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && (unsigned)CPU_COUNT(&set) < n)
		n = (unsigned)CPU_COUNT(&set);
	if (quota > 0 && quota < (long long)n)
		n = (unsigned)quota;
	return n > 0 ? n : 1;
}
