"""What runs on Linux runs on macOS: nothing that only Linux has; on Windows one sentence."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from kgroups.cli.__main__ import ON_WINDOWS
from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[2]
PRODUCT = ("assignors", "core", "cli", "public")

POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
"""Modules that no Windows has."""
NEEDED = {
    Path("core/sandbox/storage/data_directory.py"): {"fcntl"},  # its lock file
    Path("core/lag/captures/pending.py"): {"fcntl"},  # the same
    Path("cli/audit_log.py"): {"pwd"},  # who wrote
    Path("cli/commands/top/top.py"): {"termios", "tty"},  # keys as they are typed
}

# By the library reference of Python ("Availability: Linux").
LINUX_ONLY = {
    "os": {
        "EFD_CLOEXEC",
        "O_PATH",
        "O_TMPFILE",
        "POSIX_FADV_DONTNEED",
        "copy_file_range",
        "eventfd",
        "getrandom",
        "getresuid",
        "getxattr",
        "listxattr",
        "memfd_create",
        "pidfd_open",
        "pipe2",
        "posix_fadvise",
        "posix_fallocate",
        "sched_getaffinity",
        "sched_setaffinity",
        "sched_setscheduler",
        "setns",
        "setresuid",
        "setxattr",
        "splice",
        "unshare",
    },
    "select": {"epoll", "EPOLLIN", "EPOLLOUT"},
    "signal": {"SIGCLD", "SIGPOLL", "SIGPWR", "SIGRTMAX", "SIGRTMIN", "SIGSTKFLT", "sigtimedwait"},
    "socket": {
        "AF_NETLINK",
        "AF_PACKET",
        "AF_VSOCK",
        "SO_BINDTODEVICE",
        "SO_DOMAIN",
        "SO_MARK",
        "SO_PEERCRED",
        "TCP_CORK",
        "TCP_DEFER_ACCEPT",
        "TCP_INFO",
        "TCP_QUICKACK",
        "TCP_USER_TIMEOUT",
    },
    "time": {"CLOCK_BOOTTIME", "CLOCK_TAI"},
}
LINUX_PLACES = ("/proc/", "/sys/", "/dev/shm", "/run/")


def trees() -> Iterator[tuple[Path, ast.AST]]:
    """Every module of the product."""
    for top in PRODUCT:
        for path in sorted((ROOT / top).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def imported(node: ast.AST) -> set[str]:
    """Top-level modules that a statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").partition(".")[0]}
    return set()


def linux_names(node: ast.AST) -> set[str]:
    """Names in an expression or import that only Linux has, and places of its file system."""
    match node:
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return {f"{module}.{name}"} if name in LINUX_ONLY.get(module, ()) else set()
        case ast.ImportFrom(module=str(module), names=names):
            only = LINUX_ONLY.get(module, set())
            return {f"{module}.{alias.name}" for alias in names if alias.name in only}
        case ast.Constant(value=str(text)):
            return {text for place in LINUX_PLACES if text.startswith(place)}
    return set()


def test_posix_modules_are_few() -> None:
    """Beyond `os` and `signal` next to nothing is imported that Windows lacks."""
    found = {
        path: modules
        for path, tree in trees()
        if (modules := {name for node in ast.walk(tree) for name in imported(node)} & POSIX_MODULES)
    }
    assert found == NEEDED


def test_nothing_needs_linux() -> None:
    """No name, and no place, that macOS lacks."""
    found = {
        f"{path}: {name}"
        for path, tree in trees()
        for node in ast.walk(tree)
        for name in linux_names(node)
    }
    assert found == set()


def test_on_windows_one_sentence_says_what_to_do() -> None:
    """The program ends before it imports what Windows does not have."""
    probe = "import os; from kgroups.cli.__main__ import main; os.name = 'nt'; main()"
    done = run_program([sys.executable, "-c", probe])
    assert (done.returncode, done.stdout, done.stderr) == (2, "", ON_WINDOWS)
    assert ON_WINDOWS.count("\n") == 1
    assert "WSL" in ON_WINDOWS
