#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What check_kernels.py runs in the guest: what doctor says no to, each command, gen_sctp, then suites of the tools' live tests.
# in_guest.sh BUILD SUITE...
export BUILD=$1 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LANG=C.UTF-8 CI=
shift
# At the end: what the kernel warned of since, and how it then called itself tainted.
before=$(cat /proc/sys/kernel/tainted)
told() {
	dmesg | grep -E 'WARNING:|BUG:|Oops|uses run-time allocation' | sort | uniq -c | sed 's/^ */kernel /'
	after=$(cat /proc/sys/kernel/tainted)
	[ "$after" = "$before" ] || echo "kernel tainted $before, then $after"
}
trap told EXIT
cd "$(dirname "$0")/../.." || exit 1
echo "release $(uname -r)"
"$BUILD/erlsnoop" doctor 2>/dev/null > /tmp/doctor
awk '$1 == "CHECK" { at = index($0, "OK"); next } !NF { exit } at && substr($0, at, 3) == "no " { print "doctor " $0 }' /tmp/doctor
# A kernel that lacks what every command needs is refused in one line, and nothing else is asked of it.
if grep -q "for every command: kernel" /tmp/doctor; then
	"$BUILD/erlsnoop" spawns -a 0.1 1 2> /tmp/said
	[ $? = 1 ] && [ "$(wc -l < /tmp/said)" = 1 ] && echo "refused $(cat /tmp/said)"
	exit
fi
mkdir /tmp/commands
for script in commands.sh sctp.sh; do
	[ -n "$ONLY" ] && [ "$ONLY.sh" != "$script" ] && continue
	(top=$PWD; cd /tmp/commands && bash "$top/tests/kernels/$script" "$BUILD" "$BUILD/kernel_beams" 2>&1)
done
[ -n "$ONLY" ] && exit
for suite in "$@"; do
	echo "suite $suite"
	# a line a test as it ends, for VERBOSE=1; a test that hangs ends before the kernel's time is over
	CK_RUN_SUITE=$suite CK_TAP_LOG_FILE_NAME=/dev/stdout CK_TIMEOUT_MULTIPLIER=8 "$BUILD/tests/tools" 2>&1
done
