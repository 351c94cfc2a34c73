#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gen_sctp where the kernel has SCTP: the programs of tests/erl that need it, on erl and on erlvm, held against the lines
# that they expect: a line each, "command gen_sctp NAME VM: works" or the first line that differs.
# sctp.sh BUILD BEAMS, in an empty folder
BUILD=$1 BEAMS=$2 PROGRAMS=$(dirname "$0")/../erl/sockets
if ! grep -q '^SCTP ' /proc/net/protocols; then
	echo "command gen_sctp: no: this kernel $(uname -r) has no SCTP"
	exit
fi
vms=$BUILD/erlvm
/sbin/ldconfig -p | grep -q 'libsctp\.so\.1 ' && vms="erl $vms" # without it a stock erl has no gen_sctp
for program in "$PROGRAMS"/sctp_*.erl; do
	name=$(basename "$program" .erl)
	sed -n 's/^%% expect: //p' "$program" > expected
	for vm in $vms; do
		timeout 150 "$vm" -noinput +S 2 -pa "$BEAMS" -s "$name" main -s erlang halt > out 2>&1
		if diff expected out > differ; then
			echo "command gen_sctp $name $(basename "$vm"): works"
		else
			echo "command gen_sctp $name $(basename "$vm"): no: $(sed -n '2,4p' differ | tr '\n' ' ' | cut -c1-300)"
		fi
	done
done
