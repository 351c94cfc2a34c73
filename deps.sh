#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what this machine lacks of what `make demo` needs, or prints the one command to type; `deps.sh check`: of what `make check`
# needs, too.
# Folders of Erlang applications are there without their code, too: erlang-dev brings their headers.
# Each line of the table: who needs it, what shows that it is there (a command, or a path with *), the Debian package that brings it.
set -u
cd "$(dirname "$0")" || exit 1
PATH=$PATH:/usr/sbin:/sbin
CLANG=${CLANG:-clang}
table='
demo   gcc                                         gcc
demo   /usr/include/stdio.h                        libc6-dev
demo   /usr/lib/gcc/*/*/libstdc++.a                g++
demo   make                                        make
demo   clang                                       clang
demo   bpftool                                     bpftool
demo   pkg-config                                  pkg-config
demo   readelf                                     binutils
demo   /usr/include/bpf/libbpf.h                   libbpf-dev
demo   /usr/include/microhttpd.h                   libmicrohttpd-dev
demo   /usr/include/libelf.h                       libelf-dev
demo   /usr/include/capstone/capstone.h            libcapstone-dev
demo   /usr/include/elfutils/libdwfl.h             libdw-dev
demo   /usr/include/zlib.h                         zlib1g-dev
demo   /usr/include/bzlib.h                        libbz2-dev
demo   /usr/include/lzma.h                         liblzma-dev
demo   /usr/include/uthash.h                       uthash-dev
demo   /usr/include/zstd.h                         libzstd-dev
demo   protoc-c                                    protobuf-c-compiler
demo   /usr/include/protobuf-c/protobuf-c.h        libprotobuf-c-dev
demo   /usr/include/jansson.h                      libjansson-dev
demo   /usr/include/*/gmp.h                        libgmp-dev
demo   /usr/include/pcre2.h                        libpcre2-dev
demo   /usr/include/*/sys/sdt.h                    systemtap-sdt-dev
demo   /usr/include/*/asm/types.h                  linux-libc-dev
demo   erlc                                        erlang-base
demo   /usr/lib/*/libsctp.so.1                     libsctp1
demo   setpriv                                     util-linux
check  bpftrace                                    bpftrace
check  valgrind                                    valgrind
check  /usr/lib/*/libdebuginfod.so.1               libdebuginfod1
check  /usr/include/check.h                        check
check  /usr/lib/erlang/usr/include/erl_nif.h       erlang-dev
check  /usr/lib/erlang/lib/crypto-*/ebin           erlang-crypto
check  /usr/lib/erlang/lib/ssl-*/ebin              erlang-ssl
check  openssl                                     openssl
check  /usr/lib/erlang/lib/ssh-*/ebin              erlang-ssh
check  /usr/lib/erlang/lib/syntax_tools-*/ebin     erlang-syntax-tools
check  /usr/lib/erlang/lib/runtime_tools-*/ebin    erlang-runtime-tools
check  /usr/lib/erlang/lib/tools-*/ebin            erlang-tools
check  /etc/services                               netbase
check  elixir                                      elixir
check  python3                                     python3
check  curl                                        curl
check  mandoc                                      mandoc
check  zsh                                         zsh
check  /usr/lib/python3/*/prometheus_client        python3-prometheus-client
'
# Packages that bring much that is not wanted (a server that is started, a desktop) are only unpacked, below build/deps,
# in this order: one that brings the next row's, too, as prometheus does up to Debian 12, is enough for both.
unpacked='
check  prometheus                                  prometheus
check  promtool                                    promtool
check  /usr/lib/erlang/lib/observer-*/ebin         erlang-observer
'

# is_there WHAT [ROOT]: below another root a command is looked for in usr/bin.
is_there() {
	case $1 in
	/*) compgen -G "${2:-}$1" >/dev/null ;;
	*) if [ $# -gt 1 ]; then [ -x "$2/usr/bin/$1" ]; else command -v "$1" >/dev/null; fi ;;
	esac
}

# The packages of the rows for demo or check that are missing.
list_missing() {
	local who what package
	while read -r who what package; do
		[ "$who" != "$1" ] || is_there "$what" || echo "$package"
	done <<<"$table"
	# clang only recommends its runtime, which sanitizers and fuzzers are linked with
	if [ "$1" = check ] && command -v $CLANG >/dev/null &&
		! compgen -G "$($CLANG --print-resource-dir)/lib/*/libclang_rt.fuzzer*.a" >/dev/null; then
		echo "libclang-rt-$($CLANG --version | sed -nE '1s/.*version ([0-9]+)\..*/\1/p')-dev"
	fi
}

# Waits while another apt-get of this machine is at work, as one often is soon after a boot.
install() { apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"; }

install_missing() {
	local missing log
	missing=$(list_missing "$1" | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "missing packages; as root, type:  apt-get update && apt-get install -y --no-install-recommends $missing" >&2
		exit 1
	fi
	echo "installing $missing"
	log=$(mktemp)
	if ! install $missing >"$log" 2>&1 && ! { apt-get update && install $missing; } >"$log" 2>&1; then
		tail -5 "$log" >&2
		rm -f "$log"
		echo "cannot install: $missing" >&2
		exit 1
	fi
	rm -f "$log"
}

# In a folder of its own that takes its name when all is there.
unpack() {
	local package=$1 folder=build/deps/$1
	echo "unpacking $package below build/deps"
	rm -rf "$folder" "$folder.new"
	mkdir -p "$folder.new"
	(
		cd "$folder.new" || exit
		apt-get -q download "$package" || { apt-get update && apt-get -q download "$package"; } || exit
		dpkg-deb -x "$package"_*.deb . && rm -f "$package"_*.deb
	) >"$folder.new/log" 2>&1 || { tail -5 "$folder.new/log" >&2; echo "cannot unpack $package" >&2; exit 1; }
	mv "$folder.new" "$folder"
}

is_unpacked() {
	local root
	for root in build/deps/*; do
		! is_there "$1" "$root" || return 0
	done
	return 1
}

unpack_missing() {
	local who what package
	while read -r who what package; do
		[ "$who" != "$1" ] || is_there "$what" || is_unpacked "$what" || unpack "$package"
	done <<<"$unpacked"
}

export DEBIAN_FRONTEND=noninteractive
for who in demo ${1:-}; do
	install_missing "$who"
	unpack_missing "$who"
done
