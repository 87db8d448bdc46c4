"""Ways to the truth that a hostile agent tries, each a function; this file is the agent.

tests/security/test_confinement.py tries every one confined, where it must fail, and unconfined, where it
must succeed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

PROBES = {}
# Those that need more than a file system to succeed unconfined: root, a block device, namespaces ...
NEED_MORE = set()


def probe(function):
    PROBES[function.__name__] = function
    return function


def needs_more(function):
    NEED_MORE.add(function.__name__)
    return probe(function)


def agent(context):
    """Whether the probe got there: it found the secret, whose first half the context has backwards."""
    found = PROBES[context["probe"]](context)
    if isinstance(found, bool):
        return found
    found = found if isinstance(found, bytes) else str(found).encode("utf-8", "replace")
    return context["half"][::-1].encode() in found


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, timeout=20, check=False, **options)
    return done.stdout + done.stderr


def git(folder, *arguments):
    return run("git", "-c", "safe.directory=*", "-C", str(folder), *arguments)


# The data set, by other names and programs.


@probe
def open_the_data(context):
    return Path(context["data"]).read_bytes()


@probe
def walk_the_own_folder(context):
    found = b""
    for folder, _, names in os.walk(context["project"]):
        for name in names:
            with contextlib.suppress(OSError):
                found += Path(folder, name).read_bytes()
    return found


@probe
def link_in_the_own_folder(context):
    return Path(context["project"], "link").read_bytes()


@probe
def dots_in_the_path(context):
    return Path(context["project"], "..", "elsewhere", "run", "report.html").read_bytes()


@probe
def shell(context):
    return run("sh", "-c", f"read line < {context['data']}; echo $line")


@probe
def script_with_errors(context):
    return run("sh", context["data"])


@probe
def compared_by_git(context):
    return run("git", "diff", "--no-index", os.devnull, context["data"])


@probe
def archived(context):
    return run("tar", "-c", "-f", "-", "-C", str(Path(context["data"]).parent), ".")


@probe
def imported(context):
    sys.path.insert(0, str(Path(context["module"]).parent))
    try:
        return __import__("truth_module").TRUTH
    finally:
        del sys.path[0]


@probe
def opened_by_a_system_call(context):
    libc = ctypes.CDLL(None, use_errno=True)
    how = (ctypes.c_uint64 * 3)(0, 0, 0)
    fd = libc.syscall(437, -100, context["data"].encode(), how, 24)  # openat2
    return os.read(fd, 4096)


@probe
def beneath_a_folder_handle(context):
    handle = os.open(Path(context["data"]).parent, os.O_PATH)
    return os.read(os.open("truth.txt", os.O_RDONLY, dir_fd=handle), 4096)


@probe
def sent_by_the_kernel(context):
    source = os.open(context["data"], os.O_RDONLY)
    target = os.open("copy", os.O_RDWR | os.O_CREAT)
    os.sendfile(target, source, 0, 4096)
    return Path("copy").read_bytes()


@needs_more
def opened_by_its_handle(context):
    libc = ctypes.CDLL(None, use_errno=True)
    handle = (ctypes.c_ubyte * 136)()
    ctypes.c_uint.from_buffer(handle).value = 128
    mount_id = ctypes.c_int()
    named = libc.name_to_handle_at(
        -100, context["data"].encode(), handle, ctypes.byref(mount_id), 0
    )
    if named != 0:
        return False
    mount = os.open(context["project"], os.O_RDONLY)
    return os.read(libc.open_by_handle_at(mount, handle, os.O_RDONLY), 4096)


@probe
def watched(context):
    """Not the truth, but when it is read."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.inotify_add_watch(libc.inotify_init(), context["data"].encode(), 1) >= 0


# Version control, and what runs have left.


@probe
def shown_by_git(context):
    return git(context["project"], "show", "HEAD:data/truth.txt")


@probe
def shown_by_git_from_below(context):
    return git(Path(context["project"], "deep"), "log", "-p")


@probe
def shown_by_git_with_its_folder_named(context):
    where = Path(context["project"], ".git")
    return run("git", "-c", "safe.directory=*", f"--git-dir={where}", "show", "HEAD:data/truth.txt")


@probe
def cloned(context):
    run("git", "-c", "safe.directory=*", "clone", context["project"], "mine")
    return git("mine", "show", "HEAD:data/truth.txt")


@probe
def repository_in_the_own_folder(context):
    return git(Path(context["project"], "nested"), "show", "HEAD:truth.txt")


@probe
def repository_elsewhere(context):
    return git(context["repository"], "show", "HEAD:truth.txt")


@needs_more
def repository_around_our_package(context):
    return git(context["checkout"], "show", "HEAD:README.md") and bool(
        git(context["checkout"], "cat-file", "-p", "HEAD").startswith(b"tree")
    )


@probe
def demo_of_our_package(context):
    return any(path.is_file() and bool(path.read_bytes()) for path in map(Path, context["demos"]))


@probe
def run_in_the_own_folder(context):
    return Path(context["project"], "out", "report.html").read_bytes()


@probe
def records_in_the_own_folder(context):
    return Path(context["project"], "deep", "er", "run", "records.jsonl").read_bytes()


@probe
def run_without_a_manifest(context):
    return Path(context["project"], "cut", "records.jsonl").read_bytes()


@probe
def exported_report(context):
    return Path(context["project"], "page.html").read_bytes()


@probe
def house_of_runs(context):
    return Path(context["project"], ".agentbench", "runs", "1", "records.jsonl").read_bytes()


@probe
def artifacts_of_a_tracker(context):
    return Path(context["project"], "mlruns", "0", "report.html").read_bytes()


@probe
def cache_of_a_data_tool(context):
    return Path(context["project"], ".dvc", "cache", "1").read_bytes()


@probe
def run_elsewhere(context):
    return Path(context["elsewhere"], "run", "report.html").read_bytes()


@probe
def run_in_shared_memory(context):
    return Path(context["shared_memory"], "records.jsonl").read_bytes()


@probe
def somebodys_home(context):
    return Path(context["home"], "notes.txt").read_bytes()


@probe
def temporary_file_of_another(context):
    return Path(context["temporary"]).read_bytes()


# Devices, as root.


@needs_more
def block_device(context):
    return len(os.read(os.open(context["device"], os.O_RDONLY), 512)) == 512


@needs_more
def block_device_of_its_own(context):
    status = Path(context["device"]).stat()
    os.mknod("disk", stat.S_IFBLK | 0o600, status.st_rdev)
    try:
        return len(os.read(os.open("disk", os.O_RDONLY), 512)) == 512
    finally:
        Path("disk").unlink()


@needs_more
def block_device_by_its_numbers(context):
    """In shared memory, which some mount with devices allowed."""
    major, minor = map(int, context["numbers"].split(":"))
    place = "/dev/shm/agentbench-probe-disk"
    os.mknod(place, stat.S_IFBLK | 0o600, os.makedev(major, minor))
    try:
        return len(os.read(os.open(place, os.O_RDONLY), 512)) == 512
    finally:
        Path(place).unlink()


@needs_more
def memory_of_the_kernel(context):
    return len(os.read(os.open("/proc/kcore", os.O_RDONLY), 64)) == 64


@needs_more
def messages_of_the_kernel(context):
    return len(os.read(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK), 8192)) > 0


@needs_more
def passwords(context):
    return bool(Path("/etc/shadow").read_bytes())


@needs_more
def setting_of_the_kernel(context):
    """What the kernel starts when a program crashes would run outside."""
    place = Path("/proc/sys/kernel/core_pattern")
    place.write_text(place.read_text())
    return True


# Other processes, mounts and namespaces.


@needs_more
def root_of_the_first_process(context):
    return Path(f"/proc/1/root{context['data']}").read_bytes()


@probe
def root_of_our_process(context):
    return Path(f"/proc/{context['pid']}/root{context['data']}").read_bytes()


@probe
def folder_of_our_process(context):
    cwd = Path(f"/proc/{context['pid']}/cwd")
    return bool(list(cwd.iterdir())) and Path(f"/proc/{context['pid']}/environ").read_bytes() != b""


@probe
def environment_of_the_supervisor(context):
    return bool(Path(f"/proc/{context['supervisor']}/environ").read_bytes())


def _traced(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(0x4206, pid, None, None) != 0:  # PTRACE_SEIZE
        return False
    libc.ptrace(
        0x4207, pid, None, None
    )  # PTRACE_INTERRUPT: it can be let go only when it stands still
    libc.waitpid(pid, None, 0x40000000)
    libc.ptrace(17, pid, None, None)  # PTRACE_DETACH
    return True


@needs_more
def our_process_traced(context):
    return _traced(context["pid"])


@needs_more
def supervisor_traced(context):
    return _traced(context["supervisor"])


@needs_more
def view_of_our_process(context):
    handle = os.open(f"/proc/{context['pid']}/ns/mnt", os.O_RDONLY)
    if os.fork() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        os._exit(0 if libc.setns(handle, 0) == 0 else 1)
    return os.waitstatus_to_exitcode(os.wait()[1]) == 0


@needs_more
def bound_elsewhere(context):
    Path("place").mkdir(exist_ok=True)
    script = f"mount --bind {Path(context['data']).parent} place && cat place/truth.txt"
    return run("unshare", "-rm", "sh", "-c", script)


@needs_more
def another_root(context):
    Path("jail").mkdir(exist_ok=True)
    if os.fork() == 0:
        try:
            os.chroot("jail")
            os.chdir("../../../../../../../..")
            os.chroot(".")
            os._exit(0 if Path(context["data"]).exists() else 1)
        except OSError:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.wait()[1]) == 0


@needs_more
def rights_regained(context):
    """A program that would give root its rights back."""
    text = run("cat", "/proc/self/status").decode()
    rights = [
        line.split()[1] for line in text.splitlines() if line.startswith(("CapEff", "CapPrm"))
    ]
    return any(int(one, 16) for one in rights)


@probe
def signal_to_our_process(context):
    os.kill(context["pid"], 0)
    return True


@probe
def socket_with_a_path(context):
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(context["socket"])
        return asked.recv(4096)


@probe
def socket_without_a_path(context):
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect("\0" + context["abstract"])
        return asked.recv(4096)


# What it starts, and would leave.


@probe
def daemon(context):
    """Starts a process in a session of its own, whose parent is gone; says its number as a file."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for handle in range(3, 200):
                with contextlib.suppress(OSError):
                    os.close(handle)
            while True:
                time.sleep(0.05)
                Path("alive").write_text(str(time.monotonic()))
        os._exit(0)
    os.wait()
    return True
