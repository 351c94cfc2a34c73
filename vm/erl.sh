#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# erl, on erlvm: stands beside it as `erl`, so that scripts that call erl run on it when this directory comes first in PATH.
here=$(dirname "$(readlink -f "$0")")
PROGNAME=${0##*/}
export PROGNAME
exec "$here/erlvm" "$@"
