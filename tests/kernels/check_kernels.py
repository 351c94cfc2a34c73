#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Boots kernels of distributions in qemu, with this machine's own files, and tries the tools there: each command on an
erl and on an erlvm (commands.sh), gen_sctp of both (sctp.sh), then suites of their live tests.

  BUILD             where the tests are
  KERNELS           names of rows of the table below, all of them by default
  SUITES            which suites of build/tests/tools are run, in order; "": none, only the commands are tried; by
                    default the three that try what kernels do otherwise, and with KVM those of the views too
  ONLY              sctp: nothing but gen_sctp is tried
  KERNELS_CACHE     where packages are kept: build/kernels
  KERNEL_SECONDS    each kernel may take: 3000
  VERBOSE           1: what the guest prints is printed as it comes
  UBUNTU_KEYS       the key of Ubuntu's archive; by default that of Debian's package ubuntu-keyring

qemu is installed where it is missing. The machine's root is the guest's, read only, through 9p; what tests write is
in memory. Where there is /dev/kvm that works it is used, else qemu interprets: a kernel takes four minutes then, more
on a busy machine; a suite that compiles Erlang for each test may take half an hour. Prints a line a kernel, and under
it a row for each thing that the kernel cannot do: a check that doctor says no to, a command that does not work, a
test that was skipped or failed, what the kernel warned of and whether it is tainted since. A kernel that has less than
every command needs must refuse in one line.
"""

import glob
import gzip
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
CACHE = os.path.abspath(os.environ.get("KERNELS_CACHE", os.path.join(BUILD, "kernels")))
SECONDS = int(os.environ.get("KERNEL_SECONDS", "3000"))
ONLY = os.environ.get("ONLY", "")
OF_KERNELS, OF_VIEWS = "kernel attach uprobe", "spawns msglat efile views"
DEBIAN_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
UBUNTU_KEYS = os.environ.get("UBUNTU_KEYS")
DEBIAN, UBUNTU = "http://deb.debian.org/debian", "http://archive.ubuntu.com/ubuntu"

# name: archive, suite, key, package that leads to the newest, whether the tools work there (else they refuse)
KERNELS = {
    "5.10": (DEBIAN, "bullseye", DEBIAN_KEYS, "linux-image-amd64", False),
    "5.15": (UBUNTU, "jammy-updates", UBUNTU_KEYS, "linux-image-generic", True),
    "6.1": (DEBIAN, "bookworm", DEBIAN_KEYS, "linux-image-amd64", True),
    "6.8": (UBUNTU, "noble-updates", UBUNTU_KEYS, "linux-image-generic", True),
    "6.12": (DEBIAN, "trixie", DEBIAN_KEYS, "linux-image-amd64", True),
    "newest": (DEBIAN, "sid", DEBIAN_KEYS, "linux-image-amd64", True),
}
MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay", "crc32c_generic", "sctp"]
ENDED = "check-kernels: ended"
REFUSED = re.compile(r"this kernel \S+ has no ") # what it cannot do is a row, no failure

INIT = r"""#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /new
/bin/busybox mount -t devtmpfs none /dev
exec > /dev/ttyS0 2>&1
/bin/busybox mount -t proc none /proc
for m in $(/bin/busybox cat /modules); do /bin/busybox insmod /$m.ko; done
/bin/busybox mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=262144 host /new || /bin/busybox poweroff -f
cd /new
for fs in proc sysfs:sys devtmpfs:dev tmpfs:tmp tmpfs:run tmpfs:var/tmp; do
	/bin/busybox mount -t ${fs%:*} none /new/${fs#*:}
done
/bin/busybox mkdir -p /new/dev/pts /new/dev/shm
/bin/busybox mount -t devpts none /new/dev/pts
/bin/busybox mount -t tmpfs none /new/dev/shm
/bin/busybox mount -t tracefs none /new/sys/kernel/tracing 2>/dev/null
/bin/busybox ip link set lo up
/bin/busybox chroot /new /usr/bin/env ONLY=WHAT /bin/bash TOP/tests/kernels/in_guest.sh BUILD SUITES
echo ENDED
/bin/busybox poweroff -f
"""


class Failure(Exception):
    pass


# ---- packages


class Archive:
    """One suite of one archive, with lists and packages of its own, through apt."""

    def __init__(self, name, url, suite, key):
        key = key or ubuntu_key()
        if not os.path.exists(key):
            raise Failure(f"the key of {url} is not at {key}")
        self.dir = os.path.join(CACHE, name)
        for folder in ("lists/partial", "archives/partial", "debs"):
            os.makedirs(os.path.join(self.dir, folder), exist_ok=True)
        self.source = os.path.join(self.dir, "sources.list")
        with open(self.source, "w") as file:
            file.write(f"deb [arch=amd64 signed-by={key}] {url} {suite} main\n")
        self.run("apt-get", "update")

    def run(self, tool, *args):
        settings = {"Dir::Etc::SourceList": self.source, "Dir::Etc::SourceParts": "-", "Dir::State::Lists": f"{self.dir}/lists",
                    "Dir::State::status": "/dev/null", "Dir::Cache": self.dir, "APT::Sandbox::User": "root",
                    "APT::Architecture": "amd64"}
        words = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
        done = subprocess.run([tool, *words, *args], cwd=f"{self.dir}/debs", capture_output=True, text=True)
        if done.returncode:
            raise Failure((done.stderr.strip() or f"{tool} failed").splitlines()[-1])
        return done.stdout

    def newest(self, package):
        """The kernel's package that the meta package leads to, and those of its code and modules where it has some."""
        names = re.findall(r"Depends: (linux-(?:image|modules)-[0-9]\S+)", self.run("apt-cache", "depends", package))
        if not names:
            raise Failure(f"{package} leads to no kernel")
        more = re.findall(r"Depends: (linux-(?:modules|binary)-[0-9]\S+)", self.run("apt-cache", "depends", names[0]))
        return sorted(set([names[0], *more]))

    def unpack(self, packages):
        out = os.path.join(self.dir, "files-" + packages[0])
        if not os.path.isdir(out):
            self.run("apt-get", "download", *packages)
            for package in packages:
                deb = next(f for f in os.listdir(f"{self.dir}/debs") if f.startswith(package + "_"))
                subprocess.run(["dpkg-deb", "-x", deb, out + ".new"], cwd=f"{self.dir}/debs", check=True)
                os.unlink(os.path.join(self.dir, "debs", deb))
            os.rename(out + ".new", out)
        return out


def ubuntu_key():
    """Where Debian's archive, whose key is here, has it."""
    files = Archive("keys", DEBIAN, "trixie", DEBIAN_KEYS).unpack(["ubuntu-keyring"])
    return os.path.join(files, "usr/share/keyrings/ubuntu-archive-keyring.gpg")


# ---- the first file system


def read_module(path):
    with open(path, "rb") as file:
        bytes_ = file.read()
    if path.endswith(".xz"):
        return lzma.decompress(bytes_)
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq"], input=bytes_, capture_output=True, check=True).stdout
    return bytes_


def find_modules(files):
    """Bytes of the modules wanted, each behind those that it depends on; one that is built in has no file."""
    paths = {}
    for folder, _, names in os.walk(files):
        for name in names:
            if ".ko" in name:
                paths[name.split(".ko")[0].replace("-", "_")] = os.path.join(folder, name)
    found = {}

    def take(name):
        if name in found or name not in paths:
            return
        module = read_module(paths[name])
        for other in re.search(rb"depends=([^\0]*)", module).group(1).decode().replace("-", "_").split(","):
            if other:
                take(other)
        found[name] = module

    for name in MODULES:
        take(name)
    return found


def write_cpio(path, files):
    """files: name: (mode, bytes). Source: the form newc of cpio(5)."""
    out = bytearray()
    for number, (name, (mode, data)) in enumerate([*files.items(), ("TRAILER!!!", (0, b""))], 1):
        head = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out += b"070701" + b"".join(b"%08x" % word for word in head) + name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4) + data
        out += b"\0" * (-len(out) % 4)
    with gzip.open(path, "wb", 1) as file:
        file.write(bytes(out))


def make_initramfs(path, files, busybox, suites):
    modules = find_modules(files)
    with open(busybox, "rb") as file:
        entries = {"bin": (0o40755, b""), "bin/busybox": (0o100755, file.read())}
    script = INIT.replace("TOP", TOP).replace("BUILD", BUILD).replace("SUITES", " ".join(suites)).replace("ENDED", ENDED)
    script = script.replace("WHAT", ONLY)
    entries["init"] = (0o100755, script.encode())
    entries["modules"] = (0o100644, " ".join(modules).encode())
    for name, data in modules.items():
        entries[name + ".ko"] = (0o100644, data)
    write_cpio(path, entries)


# ---- the guest


def has_kvm():
    with open("/proc/cpuinfo") as file:
        flags = file.read()
    return os.access("/dev/kvm", os.R_OK | os.W_OK) and bool(re.search(r"\b(vmx|svm)\b", flags))


def suites():
    by_default = OF_KERNELS + " " + OF_VIEWS if has_kvm() else OF_KERNELS
    return os.environ.get("SUITES", by_default).split()


def boot(image, initramfs):
    """What the guest printed on its serial line."""
    command = ["qemu-system-x86_64", "-accel", "kvm" if has_kvm() else "tcg,thread=multi", "-cpu", "host" if has_kvm() else "max",
               "-smp", "2", "-m", "2560", "-nographic", "-no-reboot", "-net", "none", "-kernel", image, "-initrd", initramfs,
               "-append", "console=ttyS0 quiet panic=-1 mitigations=off nokaslr",
               "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]
    guest = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace")
    timer = threading.Timer(SECONDS, guest.kill)
    timer.start()
    lines = []
    try:
        for line in guest.stdout:
            lines.append(line.rstrip())
            if os.environ.get("VERBOSE"):
                print("    |", time.strftime("%H:%M:%S"), lines[-1], flush=True)
            if ENDED in line:
                break
    finally:
        timer.cancel()
        guest.kill()
        guest.wait()
    return lines


def judge(lines):
    """Commands and tests that passed and failed, and the rows of what cannot be done."""
    passed, failed, rows, release = 0, 0, [], "?"
    for line in lines:
        if found := re.search(r"release (\S+)$", line):
            release = found.group(1)
        elif found := re.search(r"(\d+)%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", line):
            checks, bad = int(found.group(2)), int(found.group(3)) + int(found.group(4))
            passed, failed = passed + checks - bad, failed + bad
        elif found := re.search(r"^tests/\S+:\d+:[FE]:\w+:(\w+):\d+: (.*)", line):
            rows.append(f"{found.group(1)}: {found.group(2)[:150]}")
        elif line.startswith("command "):
            works = line.endswith(": works")
            passed += works
            failed += not works and not REFUSED.search(line)
            rows += [] if works else [line]
        elif found := re.search(r"^doctor (.*)", line):
            rows.append("doctor: " + found.group(1))
        elif line.startswith(("SKIP ", "refused ", "lost in ")):
            rows.append(line)
        elif re.search(r"^kernel |Kernel panic|BUG:|Oops", line):
            rows.append(line)
            failed += 1
    return release, passed, failed, rows


def check(name):
    url, suite, key, package, works = KERNELS[name]
    try:
        archive = Archive(name, url, suite, key)
        files = archive.unpack(archive.newest(package))
        tools = Archive("busybox", DEBIAN, "bookworm", DEBIAN_KEYS)
        busybox = os.path.join(tools.unpack(["busybox-static"]), "bin/busybox")
    except Failure as why:
        print(f"{name}: not to be had: {why}", flush=True)
        return True
    image = next(os.path.join(folder, f) for folder, _, names in os.walk(files) for f in names if f.startswith("vmlinuz"))
    with tempfile.TemporaryDirectory() as folder:
        initramfs = os.path.join(folder, "initramfs.gz")
        make_initramfs(initramfs, files, busybox, suites())
        lines = boot(image, initramfs)
    release, passed, failed, rows = judge(lines)
    refused = any(row.startswith("refused ") for row in rows)
    whole = any(ENDED in line for line in lines) and (refused or passed + failed > 0)
    print(f"{name} ({release}): {'refused' if refused else f'{passed} passed, {failed} failed'}"
          f"{'' if whole else ', did not come to its end'}", flush=True)
    for row in rows if whole else [*rows, *lines[-5:]]:
        print(f"    {row}", flush=True)
    return whole and not refused and not failed if works else whole and refused


def main():
    if not shutil.which("qemu-system-x86_64"):
        install = ["apt-get", "install", "-y", "--no-install-recommends", "qemu-system-x86"]
        if os.geteuid() or subprocess.run(install, capture_output=True).returncode:
            sys.exit("check-kernels needs qemu; as root, type: apt-get update && " + " ".join(install))
    os.makedirs(f"{BUILD}/kernel_beams", exist_ok=True)
    programs = [f"{TOP}/tests/kernels/kernel_target.erl", *glob.glob(f"{TOP}/tests/erl/sockets/sctp_*.erl")]
    subprocess.run(["erlc", "-o", f"{BUILD}/kernel_beams", *programs], check=True)
    names = os.environ.get("KERNELS", " ".join(KERNELS)).split()
    if unknown := [name for name in names if name not in KERNELS]:
        sys.exit(f"no kernel {unknown[0]}; there are {' '.join(KERNELS)}")
    bad = [name for name in names if not check(name)]
    sys.exit(f"check-kernels: {', '.join(bad)} should have worked" if bad else 0)


main()
