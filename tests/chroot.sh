#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Chroots of Debian releases, for tests that need a machine that nobody has prepared.
#   tests/chroot.sh make ROOT SUITE [PACKAGE...]   makes ROOT anew: a minimal Debian (bookworm, trixie, sid) with these packages
#   tests/chroot.sh empty ROOT FILE...             makes ROOT anew: these files and nothing else
#   tests/chroot.sh tree FOLDER                    makes FOLDER: our sources as they are in an archive, without .git, of somebody else
#   tests/chroot.sh run ROOT COMMAND...            runs it there: a root of its own, /dev, /proc, /sys; ends what it leaves running
# Packages that were fetched once are kept in $CHROOT_CACHE (/var/cache/erlsnoop-chroots), which may be deleted at any time.
# `run` mounts in a mount namespace of its own: no mount is left, so that ROOT can be deleted when it has ended.
set -eu
cache=${CHROOT_CACHE:-/var/cache/erlsnoop-chroots}
mirror=http://deb.debian.org/debian
here=$(realpath "$0")

fail() { echo "chroot: $*" >&2; exit 1; }

# Hard links where both are of one file system. One chroot of a suite does not wait for another's lock of the folder.
copy_packages() {
	local file
	for file in "$1"/*.deb; do
		[ -e "$file" ] || break
		[ -e "$2/${file##*/}" ] || cp -l "$file" "$2/" 2>/dev/null || cp "$file" "$2/"
	done
}

# What the root's apt is to believe and where it goes: as this machine's does, which may have a mirror that is not of today.
set_apt() {
	{
		apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|https?::Proxy) ' || true
		echo 'APT::Keep-Downloaded-Packages "true";'
		echo 'Acquire::Languages "none";'
	} >"$1/etc/apt/apt.conf.d/90as-outside"
}

install_debootstrap() {
	local install="install -y --no-install-recommends debootstrap" patient="apt-get -o DPkg::Lock::Timeout=300"
	command -v debootstrap >/dev/null || { $patient $install || { apt-get update && $patient $install; }; } >/dev/null 2>&1 ||
		fail "debootstrap is missing; as root, type:  apt-get update && apt-get $install"
}

make_root() {
	local root=$1 suite=$2 log
	shift 2
	[ "$(id -u)" = 0 ] || fail "needs root"
	install_debootstrap
	log=$(mktemp)
	rm -rf --one-file-system "$root"
	mkdir -p "$root/etc/dpkg/dpkg.cfg.d" "$cache/$suite"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io" # who would read it after the machine has lost power?
	if ! debootstrap --variant=minbase --cache-dir="$cache/$suite" "$suite" "$root" "$mirror" >"$log" 2>&1; then
		tail -3 "$log" >&2
		rm -rf --one-file-system "$root" "$log"
		fail "debootstrap of $suite failed"
	fi
	rm -f "$log"
	echo "$suite" >"$root/etc/chroot-suite"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # starts no service when it is installed
	chmod 755 "$root/usr/sbin/policy-rc.d"
	echo "127.0.0.1 localhost $(uname -n)" >"$root/etc/hosts"
	set_apt "$root"
	[ $# -eq 0 ] || run_in "$root" sh -c 'apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@" >/dev/null' - "$@" ||
		{ rm -rf --one-file-system "$root"; fail "cannot install $* in $suite"; }
}

make_empty() {
	local root=$1
	shift
	rm -rf --one-file-system "$root"
	mkdir -p "$root"/{dev,proc,sys}
	cp "$@" "$root/"
}

make_tree() {
	mkdir -p "$1"
	tar --exclude=./build --exclude=./.git --owner=1234 --group=1234 -C "${here%/*}/.." -cf - . | tar -C "$1" --same-owner -xf -
}

# The mount namespace is given by the process whose id stands in the file: what else is in it has been left behind.
end_left() {
	local namespace=$1 process
	[ -n "$namespace" ] || return 0 # none was made; a link that may not be read is empty, too
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/ns/mnt" 2>/dev/null)" != "$namespace" ] || kill -KILL "${process#/proc/}" 2>/dev/null || true
	done
}

run_in() {
	local root status=0 suite said
	root=$(realpath "$1")
	shift
	suite=$(cat "$root/etc/chroot-suite" 2>/dev/null) || suite=
	said=$(mktemp)
	if [ -n "$suite" ]; then
		copy_packages "$cache/$suite" "$root/var/cache/apt/archives"
		cp /etc/resolv.conf "$root/etc/resolv.conf"
	fi
	unshare --mount --propagation private -- bash "$here" enter "$said" "$root" "$@" || status=$?
	end_left "$(cat "$said")"
	rm -f "$said"
	if [ -n "$suite" ]; then
		mkdir -p "$cache/$suite"
		copy_packages "$root/var/cache/apt/archives" "$cache/$suite"
	fi
	return $status
}

make_devices() {
	local name major minor
	mount -t tmpfs -o mode=755 dev "$1"
	while read -r name major minor; do
		mknod -m 666 "$1/$name" c "$major" "$minor"
	done <<-'END'
		null 1 3
		zero 1 5
		full 1 7
		random 1 8
		urandom 1 9
		tty 5 0
	END
	mkdir "$1/pts" "$1/shm"
	mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$1/pts"
	mount -t tmpfs -o mode=1777 shm "$1/shm"
	ln -s pts/ptmx "$1/ptmx"
	ln -s /proc/self/fd "$1/fd"
	for name in stdin:0 stdout:1 stderr:2; do
		ln -s "/proc/self/fd/${name#*:}" "$1/${name%:*}"
	done
}

# In the mount namespace. A root by pivot_root: in one by chroot a program may make no user namespace. An empty one has no umount, with
# which to let go of the root outside.
enter() {
	local said=$1 root=$2
	local environment=(env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
		DEBIAN_FRONTEND=noninteractive ${CI:+CI="$CI"})
	shift 2
	readlink /proc/self/ns/mnt >"$said"
	mount --bind "$root" "$root"
	make_devices "$root/dev"
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	[ -e "$root/etc/chroot-suite" ] || exec "${environment[@]}" chroot "$root" "$@"
	cd "$root"
	mkdir -p .outside
	pivot_root . .outside
	cd /root
	umount -l /.outside
	exec "${environment[@]}" "$@"
}

case ${1:-} in
make) shift; make_root "$@" ;;
empty) shift; make_empty "$@" ;;
tree) shift; make_tree "$@" ;;
run) shift; run_in "$@" ;;
enter) shift; enter "$@" ;;
*) sed -n '3,9s/^# //p' "$0" >&2; exit 2 ;;
esac
