#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The README's two commands on machines that nobody has prepared: chroots of Debian made anew, with git, make and gcc.
#   FRESH        which releases: 12, 13, sid (all)
#   FRESH_STEPS  what is done there: demo, build (what make check builds and links), check, clangs (demo check clangs)
# What a step printed is in build/fresh/SUITE-STEP.log; a chroot whose steps all ended well is deleted.
set -u
cd "$(dirname "$0")/../.." || exit 1
declare -A suites=([12]=bookworm [13]=trixie [sid]=sid) commands=(
	[demo]="make demo" [build]="make check-build" [check]="make check" [clangs]="make check-clangs")
PACKAGES_MOST=150
folder=build/fresh
rows=() failed=0

# A tree as it is in an archive: without .git, of somebody else.
lay_tree() {
	mkdir -p "$1"
	tar --exclude=./build --exclude=./.git --owner=1234 --group=1234 -cf - . | tar -C "$1" --same-owner -xf -
}

count_packages() { grep -c '^Status: install ok installed' "$1/var/lib/dpkg/status"; }

# What the first screen shows, whichever VM is watched.
shows_screen() {
	local line
	for line in '/erlsnoop list' 'COMMANDS$' 'INITIAL CALL$' 'demo:job/1$' '^From send to receiver scheduled' '^By operation:' '^The slowest' \
		'work begins'; do
		grep -qE "$line" "$1" || { echo "the demo does not show $line" >>"$1"; return 1; }
	done
}

# What a step has to show but its status; what is missing is the log's last line.
hold() {
	local step=$1 root=$2 log=$3 installed=$4
	case $step in
	demo)
		shows_screen "$log" || return
		[ "$installed" -le $PACKAGES_MOST ] || { echo "$installed packages were installed, $PACKAGES_MOST at most" >>"$log"; return 1; } ;;
	check) tail -1 "$log" | grep -qE '^check: [0-9]+ passed, 0 failed' ;;
	esac
}

run_step() {
	local release=$1 root=$2 step=$3 log=$4 before verdict=works
	before=$(count_packages "$root")
	SECONDS=0
	bash tests/chroot.sh run "$root" bash -c "cd erlsnoop && ${commands[$step]}" >"$log" 2>&1 </dev/null &&
		hold "$step" "$root" "$log" $(($(count_packages "$root") - before)) || verdict=FAILED
	[ "$verdict" = works ] || { failed=$((failed + 1)); tail -15 "$log" | cut -c1-300; }
	rows+=("$(printf '%-8s %-20s %8d %8d  %s' "$release" "${commands[$step]}" $(($(count_packages "$root") - before)) $SECONDS \
		"$verdict$(sed -nE '$s/^check: /: /p' "$log")")")
	echo "${rows[-1]}"
	[ "$verdict" = works ]
}

try_release() {
	local release=$1 suite=${suites[$1]:-} root step
	[ -n "$suite" ] || { echo "no release $release: there are ${!suites[*]}" >&2; return 1; }
	root=$folder/$suite
	echo "making a Debian $release below $root"
	bash tests/chroot.sh make "$root" "$suite" git make gcc && lay_tree "$root/root/erlsnoop" || return
	for step in ${FRESH_STEPS:-demo check clangs}; do
		run_step "$release" "$root" "$step" "$folder/$suite-$step.log" || return 0
	done
	rm -rf --one-file-system "$root"
}

[ "$(id -u)" = 0 ] || { echo "check-fresh needs root" >&2; exit 1; }
if ! command -v debootstrap >/dev/null; then
	install="apt-get install -y --no-install-recommends debootstrap"
	{ $install || { apt-get update && $install; }; } >/dev/null 2>&1 || { echo "as root, type:  apt-get update && $install" >&2; exit 1; }
fi
for release in ${FRESH:-12 13 sid}; do
	try_release "$release" || failed=$((failed + 1))
done
printf '\n%-8s %-20s %8s %8s  %s\n' RELEASE COMMAND PACKAGES SECONDS ''
[ ${#rows[@]} -eq 0 ] || printf '%s\n' "${rows[@]}"
echo "check-fresh: $((${#rows[@]} - failed < 0 ? 0 : ${#rows[@]} - failed)) passed, $failed failed"
[ $failed -eq 0 ]
