/* SPDX-License-Identifier: Apache-2.0 */
/* Where the logical processors sit: one directory a cpu, with files of one number each. */
#include "io/cpu_topology.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

#define CPUS "/sys/devices/system/cpu"

/* The number behind the prefix in a name that is nothing else. Fails: -1. */
static int number_in(const char *name, const char *format)
{
	int n, length = 0;

	return sscanf(name, format, &n, &length) == 1 && name[length] == 0 ? n : -1;
}

static bool read_number(int cpu, const char *file, int *n)
{
	char path[128];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), CPUS "/cpu%d/topology/%s", cpu, file);
	f = fopen(path, "re");
	ok = f != NULL && fscanf(f, "%d", n) == 1;
	if (f != NULL)
		fclose(f);
	return ok;
}

/* The cpu's directory has a link to its node. -1: none. */
static int find_node(int cpu)
{
	const struct dirent *e;
	char path[64];
	int node = -1;
	DIR *d;

	snprintf(path, sizeof(path), CPUS "/cpu%d", cpu);
	d = opendir(path);
	while (d != NULL && node < 0 && (e = readdir(d)) != NULL)
		node = number_in(e->d_name, "node%d%n");
	if (d != NULL)
		closedir(d);
	return node;
}

static size_t read_cpus(struct cpu_place *cpus, size_t room)
{
	DIR *d = opendir(CPUS);
	const struct dirent *e;
	size_t n = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		struct cpu_place c = { .processor_node = -1, .logical = number_in(e->d_name, "cpu%d%n") };

		if (c.logical < 0 || !read_number(c.logical, "physical_package_id", &c.processor) ||
		    !read_number(c.logical, "core_id", &c.core))
			continue;
		c.node = find_node(c.logical);
		if (n < room)
			cpus[n] = c;
		n++;
	}
	if (d != NULL)
		closedir(d);
	return n;
}

static bool spans_nodes(const struct cpu_place *cpus, size_t n, int processor)
{
	const struct cpu_place *first = NULL;

	for (size_t i = 0; i < n; i++) {
		if (cpus[i].processor != processor)
			continue;
		if (first != NULL && cpus[i].node != first->node)
			return true;
		first = &cpus[i];
	}
	return false;
}

/* Nodes move below the processors that span several. */
static void place_nodes(struct cpu_place *cpus, size_t n)
{
	bool *spans = mem_alloc(n * sizeof(*spans));

	for (size_t i = 0; i < n; i++)
		spans[i] = spans_nodes(cpus, n, cpus[i].processor);
	for (size_t i = 0; i < n; i++)
		if (spans[i]) {
			cpus[i].processor_node = cpus[i].node;
			cpus[i].node = -1;
		}
	mem_free(spans);
}

/* 0: of the same core. */
static int compare_cores(const struct cpu_place *x, const struct cpu_place *y)
{
	if (x->node != y->node)
		return x->node - y->node;
	if (x->processor != y->processor)
		return x->processor - y->processor;
	if (x->processor_node != y->processor_node)
		return x->processor_node - y->processor_node;
	return x->core - y->core;
}

static int compare_places(const void *a, const void *b)
{
	const struct cpu_place *x = a, *y = b;
	int d = compare_cores(x, y);

	return d != 0 ? d : x->logical - y->logical;
}

size_t cpu_topology_read(struct cpu_place **cpus)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF), online = sysconf(_SC_NPROCESSORS_ONLN);
	size_t room = configured > 0 ? (size_t)configured : 0, n;

	*cpus = mem_zalloc((room + 1) * sizeof(**cpus));
	n = read_cpus(*cpus, room);
	if (n > room || (long)n < online)
		n = 0;
	place_nodes(*cpus, n);
	qsort(*cpus, n, sizeof(**cpus), compare_places);
	for (size_t i = 1; i < n; i++)
		if (compare_cores(&(*cpus)[i - 1], &(*cpus)[i]) == 0)
			(*cpus)[i].thread = (*cpus)[i - 1].thread + 1;
	return n;
}
