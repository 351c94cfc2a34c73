/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries for driver_load.erl: one that is good, and others each with one thing wrong.
 * build: driver_good -DTHIS='"driver_good"'
 * build: driver_old -DTHIS='"driver_old"' -DMAJOR=1
 * build: driver_new_major -DTHIS='"driver_new_major"' -DMAJOR=4
 * build: driver_new_minor -DTHIS='"driver_new_minor"' -DMINOR=4
 * build: driver_two -DTHIS='"driver_two"' -DMAJOR=2
 * build: driver_unmarked -DTHIS='"driver_unmarked"' -DMARKER=0
 * build: driver_other -DTHIS='"driver_good"'
 * build: driver_veto -DTHIS='"driver_veto"' -DVETO=1
 * build: driver_null -DTHIS='"driver_null"' -DNULL_ENTRY
 * build: driver_no_init -DTHIS='"driver_no_init"' -DINIT=some_init
 * build: driver_unresolved -DTHIS='"driver_unresolved"' -DUNRESOLVED
 * build: driver_locked -DTHIS='"driver_locked"' -DFLAGS=0 */
#include <erl_driver.h>
#include <errno.h>
#include <string.h>

#ifndef MAJOR
#define MAJOR ERL_DRV_EXTENDED_MAJOR_VERSION
#endif
#ifndef MINOR
#define MINOR ERL_DRV_EXTENDED_MINOR_VERSION
#endif
#ifndef MARKER
#define MARKER (int)ERL_DRV_EXTENDED_MARKER
#endif
#ifndef VETO
#define VETO 0
#endif
#ifndef INIT
#define INIT driver_init
#endif
#ifndef FLAGS
#define FLAGS ERL_DRV_FLAG_USE_PORT_LOCKING
#endif

static int inits;
static char name[64];

static int init(void)
{
	inits++;
	return VETO;
}

static ErlDrvData start(ErlDrvPort port, char *command)
{
	if (strstr(command, "general") != NULL)
		return ERL_DRV_ERROR_GENERAL;
	if (strstr(command, "badarg") != NULL)
		return ERL_DRV_ERROR_BADARG;
	if (strstr(command, "errno") != NULL) {
		errno = EMFILE;
		return ERL_DRV_ERROR_ERRNO;
	}
	return (ErlDrvData)port;
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned command, char *bytes, ErlDrvSizeT n, char **answer,
			    ErlDrvSizeT room)
{
	ErlDrvPort port = (ErlDrvPort)data;

	(void)bytes;
	(void)n;
	(void)room;
	if (command == 1) {
		(*answer)[0] = (char)driver_lock_driver(port);
		return 1;
	}
	(*answer)[0] = (char)inits;
	return 1;
}

static ErlDrvEntry entry = {
	.init = init, .start = start, .control = control, .driver_name = name, .extended_marker = MARKER,
	.major_version = MAJOR, .minor_version = MINOR, .driver_flags = FLAGS,
};

#ifdef UNRESOLVED
extern int there_is_no_such_function(void);
#endif

ErlDrvEntry *INIT(void);
ErlDrvEntry *INIT(void)
{
#ifdef UNRESOLVED
	inits = there_is_no_such_function();
#endif
#ifdef NULL_ENTRY
	return NULL;
#endif
	strcpy(name, THIS);
	return &entry;
}
