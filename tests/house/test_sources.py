"""Rules that hold in every module of the product; each module is parsed once for all of them.

Files and functions stay small; what runs on Linux runs on macOS, and on Windows one sentence says
what to do; what a broker's error means stands in one table.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from kgroups.cli.__main__ import ON_WINDOWS
from kgroups.core import errors
from kgroups.core.protocol.errors import MEANINGS
from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[2]
PRODUCT = ("assignors", "core", "cli", "public")
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

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

TABLE = Path("core/protocol/errors.py")
"""Where errors of brokers get their meaning."""
LOOKED_AT = (ast.Call, ast.Constant, ast.Attribute, ast.Import, ast.ImportFrom)
CLASSES = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.KgroupsError)
}

RULED = (
    *(name for names in LINUX_ONLY.values() for name in names),
    *LINUX_PLACES,
    *(f'"{code}"' for code in MEANINGS),
)
"""What rules about expressions look for: where none of it stands is no such expression."""


class Function(NamedTuple):
    """A function. The options of a command are its signature: the lines of its body count."""

    place: str
    lines: int


class Module(NamedTuple):
    """What rules look at of a module.

    Args:
        nodes: imports, and expressions where the text has what rules look for.
    """

    functions: Sequence[Function]
    nodes: Sequence[ast.AST]


Modules = dict[Path, Module]


@pytest.fixture(scope="module")
def modules() -> Modules:
    """Every module of the product."""
    paths = (path for top in PRODUCT for path in sorted((ROOT / top).rglob("*.py")))
    return {path.relative_to(ROOT): parsed(path) for path in paths}


def parsed(path: Path) -> Module:
    """What rules look at; the rest of the module is not kept."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    functions = [
        Function(
            f"{path.relative_to(ROOT)}:{node.lineno} {node.name}",
            (node.end_lineno or 0) - node.body[0].lineno + 1,
        )
        for node in statements(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    nodes = ast.walk(tree) if any(words in text for words in RULED) else statements(tree)
    return Module(functions, [node for node in nodes if isinstance(node, LOOKED_AT)])


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement in a module or statement, at any depth."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, part, ()):
            yield inner
            yield from statements(inner)


def test_files_stay_small(modules: Modules) -> None:
    """A file that outgrows its room is divided."""
    lengths = {path: (ROOT / path).read_bytes().count(b"\n") for path in modules}
    assert {path: lines for path, lines in lengths.items() if lines > MAX_FILE_LINES} == {}


def test_functions_stay_small(modules: Modules) -> None:
    """A function that does two things is two functions."""
    functions = [function for module in modules.values() for function in module.functions]
    assert len(functions) > len(modules)
    assert [each for each in functions if each.lines > MAX_FUNCTION_LINES] == []


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


def test_posix_modules_are_few(modules: Modules) -> None:
    """Beyond `os` and `signal` next to nothing is imported that Windows lacks."""
    found: dict[Path, set[str]] = defaultdict(set)
    for path, module in modules.items():
        for name in (name for node in module.nodes for name in imported(node) & POSIX_MODULES):
            found[path].add(name)
    assert found == NEEDED


def test_nothing_needs_linux(modules: Modules) -> None:
    """No name, and no place, that macOS lacks."""
    found = {
        f"{path}: {name}"
        for path, module in modules.items()
        for node in module.nodes
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


def calls_with_errors(modules: Modules) -> Iterator[tuple[str, str, str]]:
    """Place, name and error name of every call that is given one of Kafka's errors as a literal."""
    for path, module in modules.items():
        for node in module.nodes:
            if path == TABLE or not (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            ):
                continue
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            for code in (each.value for each in given if isinstance(each, ast.Constant)):
                if code in MEANINGS:
                    yield f"{path}:{node.lineno}", node.func.id, str(code)


def test_items_are_made_from_the_table(modules: Modules) -> None:
    """`broker_error(...)`, not `ItemError(...)` with a sentence and an exit code of its own."""
    assert [place for place, name, _ in calls_with_errors(modules) if name == "ItemError"] == []


def test_what_ends_a_command_has_the_exit_code_of_the_table(modules: Modules) -> None:
    """A class of errors that is raised with Kafka's name for it has that name's exit code."""
    raised = [each for each in calls_with_errors(modules) if each[1] in CLASSES]
    assert raised, "nothing raises one: this test looks in the wrong place"
    for place, name, code in raised:
        assert CLASSES[name].exit_code == MEANINGS[code].exit_code, f"{place}: {name} for {code}"
