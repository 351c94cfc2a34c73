#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what building and testing need and this machine lacks, or prints the one command to type.
# Each line of the table: what shows that it is there (a command, or a path with *), and the Debian package that brings it.
set -u
cd "$(dirname "$0")" || exit 1
PATH=$PATH:/usr/sbin:/sbin
table='
gcc                                     gcc
make                                    make
clang                                   clang
bpftool                                 bpftool
pkg-config                              pkg-config
bpftrace                                bpftrace
readelf                                 binutils
valgrind                                valgrind
/usr/include/bpf/libbpf.h               libbpf-dev
/usr/include/microhttpd.h                libmicrohttpd-dev
/usr/include/libelf.h                   libelf-dev
/usr/include/capstone/capstone.h        libcapstone-dev
/usr/include/elfutils/libdwfl.h         libdw-dev
/usr/lib/*/libdebuginfod.so.1           libdebuginfod1
/usr/include/zlib.h                     zlib1g-dev
/usr/include/bzlib.h                    libbz2-dev
/usr/include/lzma.h                     liblzma-dev
/usr/include/uthash.h                   uthash-dev
/usr/include/zstd.h                     libzstd-dev
/usr/include/*/gmp.h                    libgmp-dev
/usr/include/pcre2.h                    libpcre2-dev
/usr/include/check.h                    check
/usr/include/*/sys/sdt.h                systemtap-sdt-dev
/usr/include/*/asm/types.h              linux-libc-dev
erlc                                    erlang-base
/usr/lib/*/libsctp.so.1                 libsctp1
/usr/lib/erlang/usr/include/erl_nif.h   erlang-dev
/usr/lib/erlang/lib/crypto-*            erlang-crypto
/usr/lib/erlang/lib/ssl-*               erlang-ssl
/usr/lib/erlang/lib/ssh-*               erlang-ssh
/usr/lib/erlang/lib/syntax_tools-*      erlang-syntax-tools
/usr/lib/erlang/lib/runtime_tools-*     erlang-runtime-tools
/usr/lib/erlang/lib/observer-*          erlang-observer
elixir                                  elixir
setpriv                                 util-linux
python3                                 python3
curl                                    curl
mandoc                                  mandoc
/usr/lib/python3/*/prometheus_client    python3-prometheus-client
'
missing=()
while read -r what package; do
	[ -n "$what" ] || continue
	case $what in
	/*) compgen -G "$what" >/dev/null || missing+=("$package") ;;
	*) command -v "$what" >/dev/null || missing+=("$package") ;;
	esac
done <<<"$table"
# Of a server that its package would start only the programs are wanted: they are unpacked below build/deps/prometheus.
unpack_prometheus() {
	command -v prometheus >/dev/null && command -v promtool >/dev/null && return
	[ -x build/deps/prometheus/usr/bin/promtool ] && return
	echo "unpacking prometheus below build/deps"
	mkdir -p build/deps/prometheus && cd build/deps/prometheus || exit 1
	apt-get -q download prometheus >log 2>&1 || { apt-get update && apt-get -q download prometheus; } >log 2>&1
	dpkg-deb -x prometheus_*.deb . 2>>log || { tail -5 log >&2; echo "cannot unpack prometheus" >&2; exit 1; }
	rm -f prometheus_*.deb
}
if [ ${#missing[@]} -eq 0 ]; then
	unpack_prometheus
	exit
fi

install="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "missing packages; as root, type:  apt-get update && $install" >&2
	exit 1
fi
echo "installing ${missing[*]}"
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! $install >"$log" 2>&1; then
	{ apt-get update && $install; } >"$log" 2>&1 || { tail -5 "$log" >&2; echo "cannot install: ${missing[*]}" >&2; exit 1; }
fi
rm -f "$log"
unpack_prometheus
