#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages in a chroot of Debian 12 that has nothing but what debian/control asks for, and holds them against lintian; installs,
# tries and removes them in fresh chroots of 12, 13 and sid; tries a static erlsnoop where there is nothing else. As root, with network.
#   INSTALL_ONLY  words; only these of build, static, bookworm, trixie, sid. Packages of an earlier run are taken without `build`
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/install
status=0

is_wanted() { [ -z "${INSTALL_ONLY:-}" ] || [[ " $INSTALL_ONLY " == *" $1 "* ]]; }

# What is done, then `ok` or the end of what it printed.
step() {
	local what=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		echo "ok    $what"
	else
		echo "FAIL  $what"
		tail -15 "$work/log"
		status=1
		return 1
	fi
}

# in_suite SUITE WHAT: a part of in_chroot.sh there.
in_suite() { bash tests/chroot.sh run "$work/$1" bash /root/in_chroot.sh "$2"; }

make_suite() {
	bash tests/chroot.sh make "$work/$1" "$@" && cp tests/install/in_chroot.sh "$work/$1/root/"
}

build_packages() {
	step "a chroot of bookworm to build in" make_suite bookworm build-essential lintian || return
	bash tests/chroot.sh tree "$work/bookworm/root/src"
	step "dpkg-buildpackage -us -uc -b, with what debian/control asks for" in_suite bookworm build || return
	rm -f "$work"/*.deb
	cp "$work"/bookworm/root/*.deb "$work"
	step "lintian" in_suite bookworm lint
}

try_packages() {
	local suite=$1
	step "$suite: a fresh chroot" make_suite "$suite" || return
	cp "$work"/*.deb "$work/$suite/root/"
	step "$suite: apt install ./erlsnoop_*.deb" in_suite "$suite" install || return
	step "$suite: erlsnoop spawns -- erl counts" in_suite "$suite" count
	step "$suite: manual page" in_suite "$suite" page
	step "$suite: bash completes" in_suite "$suite" complete
	step "$suite: apt install ./erlvm_*.deb, which runs as erl and is watched" in_suite "$suite" erlvm
	step "$suite: removed without a trace" in_suite "$suite" remove
}

# Nothing is there but /dev, /proc and /sys, which tell of this machine's VM.
in_nothing() { bash tests/chroot.sh run "$work/nothing" /erlsnoop "$@"; }

ask_version_in_nothing() {
	local said
	said=$(in_nothing --version)
	echo "$said"
	grep -q '^Built without: TLS, debuginfod$' <<<"$said"
}

watch_in_nothing() {
	local vm said
	rm -f "$work/up"
	erl -noinput -eval "F = fun F() -> spawn(fun() -> ok end), timer:sleep(10), F() end,
		ok = file:write_file(\"$work/up\", \"\"), F()." </dev/null &
	vm=$!
	until [ -e "$work/up" ] || ! kill -0 $vm; do sleep .1; done
	said=$(in_nothing list && in_nothing spawns -p $vm --json 1 1)
	kill $vm
	echo "$said"
	grep -q "^ *$vm .*OTP" <<<"$said" && grep -qE '"type":"spawns".*"births":[1-9]' <<<"$said"
}

try_static() {
	step "make STATIC=1" env -u BUILD make STATIC=1 build/variant-static1/erlsnoop || return
	bash tests/chroot.sh empty "$work/nothing" build/variant-static1/erlsnoop
	step "static: in an empty chroot, --version tells what was left out" ask_version_in_nothing
	step "static: list and spawns of a VM from there" watch_in_nothing
}

mkdir -p "$work"
! is_wanted build || build_packages
! is_wanted static || try_static
for suite in bookworm trixie sid; do
	! is_wanted $suite || try_packages $suite
done
exit $status
