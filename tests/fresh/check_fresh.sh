#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The README's two commands on machines that nobody has prepared: chroots of Debian made anew, with git, make and gcc.
#   FRESH        which releases: 12, 13, sid (all)
#   FRESH_STEPS  what is done there: demo, build (what make check builds and links), check, vm (erlvm's tests), clangs,
#                both (demo check clangs)
# What a step printed is in build/fresh/SUITE-STEP.log; a chroot whose steps all ended well is deleted.
set -u
cd "$(dirname "$0")/../.." || exit 1
declare -A suites=([12]=bookworm [13]=trixie [sid]=sid) commands=(
	[demo]="make demo" [build]="make check-build" [check]="make check" [clangs]="make check-clangs" [vm]="make check-vm" [both]="make -j demo check")
PACKAGES_MOST=150
folder=build/fresh
releases=(${FRESH:-12 13 sid}) steps=(${FRESH_STEPS:-demo check clangs})
rows=() passed=0 failed=0 left=0

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
	both) shows_screen "$log" && hold check "${@:2}" ;;
	check | vm) tail -1 "$log" | grep -qE '^check: [0-9]+ passed, 0 failed' ;;
	esac
}

# A row of the table, which each release's making and each step get.
tell() {
	rows+=("$(printf '%-8s %-20s %8s %8s  %s' "$@")")
	echo "${rows[-1]}"
}

# Nothing for what cannot be run, as what comes before it has failed.
leave() {
	local release=$1 step
	shift
	for step in "$@"; do
		tell "$release" "${commands[$step]}" - - "not run"
		left=$((left + 1))
	done
}

run_step() {
	local release=$1 root=$2 step=$3 log=$4 before verdict=works
	before=$(count_packages "$root")
	SECONDS=0
	bash tests/chroot.sh run "$root" bash -c "cd erlsnoop && ${commands[$step]}" >"$log" 2>&1 </dev/null &&
		hold "$step" "$root" "$log" $(($(count_packages "$root") - before)) || verdict=FAILED
	[ "$verdict" = works ] || tail -15 "$log" | cut -c1-300
	tell "$release" "${commands[$step]}" $(($(count_packages "$root") - before)) $SECONDS "$verdict$(sed -nE '$s/^check: /: /p' "$log")"
	[ "$verdict" = works ]
}

make_release() {
	local release=$1 root=$2 verdict=works
	echo "making a Debian $release below $root"
	SECONDS=0
	bash tests/chroot.sh make "$root" "${suites[$release]}" git make gcc && bash tests/chroot.sh tree "$root/root/erlsnoop" || verdict=FAILED
	tell "$release" "(a fresh Debian)" "$([ $verdict = FAILED ] && echo - || count_packages "$root")" $SECONDS $verdict
	[ $verdict = works ]
}

# Each thing that is done passes or fails; what comes after a failure is left.
try_release() {
	local release=$1 suite=${suites[$1]} i
	local root=$folder/$suite
	make_release "$release" "$root" || { failed=$((failed + 1)); leave "$release" "${steps[@]}"; return; }
	passed=$((passed + 1))
	for ((i = 0; i < ${#steps[@]}; i++)); do
		if ! run_step "$release" "$root" "${steps[i]}" "$folder/$suite-${steps[i]}.log"; then
			failed=$((failed + 1))
			leave "$release" "${steps[@]:i+1}"
			return
		fi
		passed=$((passed + 1))
	done
	rm -rf --one-file-system "$root"
}

for release in "${releases[@]}"; do
	[ -n "${suites[$release]:-}" ] || { echo "no release $release: there are ${!suites[*]}" >&2; exit 2; }
done
for step in "${steps[@]}"; do
	[ -n "${commands[$step]:-}" ] || { echo "no step $step: there are ${!commands[*]}" >&2; exit 2; }
done
[ "$(id -u)" = 0 ] || { echo "check-fresh needs root" >&2; exit 1; }
mkdir -p "$folder"
for release in "${releases[@]}"; do
	try_release "$release"
done
printf '\n%-8s %-20s %8s %8s  %s\n' RELEASE COMMAND PACKAGES SECONDS ''
printf '%s\n' "${rows[@]}"
echo "check-fresh: $passed passed, $failed failed, $left not run"
[ $failed -eq 0 ]
