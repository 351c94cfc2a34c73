#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compiles tests/erl/otpNN with the erlc of OTP NN, in place: compile.sh NN [COMMAND], where COMMAND runs that erlc (default: erlc;
# for one in a chroot "chroot DIR erlc": sources go in by a folder of its /tmp).
# A line `%% erlc: OPTIONS` in a source gives it options of its own.
set -eu
release=$1 command=${2:-erlc}
cd "$(dirname "$0")/otp$release"
root=
[[ $command == chroot\ * ]] && root=$(cut -d' ' -f2 <<<"$command")
work=$(mktemp -d "$root/tmp/erl-beams.XXXXXX")
trap 'rm -rf "$work"' EXIT
for source in *.erl; do
	cp "$source" "$work"
	options=$(sed -n 's/^%% erlc: //p' "$source")
	$command +deterministic $options -o "${work#"$root"}" "${work#"$root"}/$source"
	mv "$work/${source%.erl}.beam" .
done
