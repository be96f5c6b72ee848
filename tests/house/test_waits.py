"""Every wait of the tests for another process, thread, queue or socket has a deadline of its own.

`tests/support/kafka/child.py` is what tests start programs with and read them through; everything
else that waits takes its deadline in the call.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = ("tests", "bench", "scripts")
# Where programs are started and read; what it does is tested in test_child.py.
CHILD = ROOT / "tests" / "support" / "kafka" / "child.py"

BARE: Mapping[str, str] = {
    "wait": "processes, events: `wait(30)`",
    "join": "threads: `join(30)`",
    "get": "queues: `get(timeout=30)`",
    "result": "futures: `result(30)`",
    "communicate": "`communicate(timeout=30)`",
}
"""Methods that wait for ever when they get no argument (`dict.get`, `str.join` always get one)."""

NEVER: Mapping[str, str] = {
    "readline": "`Child.line` has one deadline for the whole line",
    "subprocess.run": "`tests.support.kafka.child.run`",
    "subprocess.call": "`tests.support.kafka.child.run`",
    "subprocess.check_call": "`tests.support.kafka.child.run`",
    "subprocess.check_output": "`tests.support.kafka.child.run`",
    "subprocess.Popen": "`tests.support.kafka.child.Child`",
    "psutil.Popen": "`tests.support.kafka.child.Child`",
    "os.system": "`tests.support.kafka.child.run`",
    "os.waitpid": "`Child.wait`",
    "os.read": "`tests.support.kafka.child.read_some`",
}
"""What has no deadline to give, and what to use."""

ON_SOCKETS = ("accept", "recv", "recv_into", "recvfrom")
FROM_FUTURES = ("wait", "as_completed")
LOOKED_AT = {
    *(*BARE, *(name.rpartition(".")[2] for name in NEVER), *ON_SOCKETS, *FROM_FUTURES),
    *("create_connection", "wait_for", "read", "readlines", "flush", "poll", "consume"),
}


def unlimited(text: str) -> Iterator[tuple[int, str]]:
    """Waits without a deadline in a module: its line, and what to do."""
    nodes = list(ast.walk(ast.parse(text)))
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    imported = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "concurrent.futures"
        for alias in node.names
    }
    limited, within = _limited_sockets(nodes), _awaited_with_limit(nodes)
    for node in nodes:
        if isinstance(node, ast.For | ast.comprehension) and _is_stream(node.iter):
            yield node.iter.lineno, "`Child.line_that` reads a stream with a deadline"
        if not isinstance(node, ast.Call) or _last_name(node.func) not in LOOKED_AT:
            continue
        called, words = ast.unparse(node.func), {word.arg for word in node.keywords}
        name = called.rpartition(".")[2]
        has_limit = bool(words & {"timeout", "timeout_s", "timeout_ms"})
        if called in NEVER or (name in NEVER and name != called):
            yield node.lineno, NEVER.get(called) or NEVER[name]
        elif isinstance(node.func, ast.Name):
            if name in FROM_FUTURES and name in imported and len(node.args) < 2 and not has_limit:
                yield node.lineno, f"`{name}(futures, timeout=30)`"
        elif not isinstance(node.func, ast.Attribute) or name in own or node in within:
            continue  # the module's own method of that name, or asyncio's deadline around it
        elif name in BARE and not has_limit and (name == "communicate" or not node.args):
            yield node.lineno, BARE[name]
        elif (
            (name == "accept") != bool(node.args)
            and name in ON_SOCKETS
            and ast.unparse(node.func.value) not in limited
        ):
            yield node.lineno, f"`{ast.unparse(node.func.value)}.settimeout(30)` before"
        elif name == "create_connection" and len(node.args) < 2 and not has_limit:
            yield node.lineno, "`create_connection(address, timeout=30)`"
        elif name == "wait_for" and len(node.args) < 2 and not has_limit:
            yield node.lineno, "`wait_for(condition, 30)`"
        elif name in ("read", "readlines") and _is_stream(node.func.value):
            yield node.lineno, "`Child.communicate` or `Child.line` read a stream with a deadline"
        elif not node.args and not has_limit and _waits_for_kafka(node.func):
            yield node.lineno, f"`{name}(30)`"


def _last_name(called: ast.expr) -> str:
    """`wait` of `process.wait` and of `wait`."""
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _is_stream(node: ast.expr) -> bool:
    """Whether this is a running program's output."""
    return isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr")


def _waits_for_kafka(method: ast.Attribute) -> bool:
    """Whether this is librdkafka's, which waits for ever unless it is told otherwise."""
    owner = ast.unparse(method.value).lower()
    return (method.attr == "flush" and "producer" in owner) or (
        method.attr in ("poll", "consume") and "consumer" in owner
    )


def _awaited_with_limit(nodes: Sequence[ast.AST]) -> set[ast.AST]:
    """What `asyncio.wait_for` waits for."""
    return {
        node.args[0]
        for node in nodes
        if isinstance(node, ast.Call)
        and _last_name(node.func) == "wait_for"
        and ast.unparse(node.func) == "asyncio.wait_for"
        and len(node.args) == 2
    }


def _limited_sockets(nodes: Sequence[ast.AST]) -> set[str]:
    """What is given a timeout, or made with one, somewhere in this module."""
    found: set[str] = set()
    for node in nodes:
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr == "settimeout":
            found.add(ast.unparse(called.value))
        if isinstance(node, ast.Assign):
            made, targets = node.value, list(node.targets)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            made, targets = node.context_expr, [node.optional_vars]
        else:
            continue
        if isinstance(made, ast.Call) and _last_name(made.func) == "create_connection":
            found |= {ast.unparse(target) for target in targets}
    return found


def test_every_wait_is_limited() -> None:
    """In tests, and in the benchmarks and scripts that tests run."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {instead}"
        for place in PLACES
        for path in sorted((ROOT / place).rglob("*.py"))
        if path != CHILD
        for line, instead in unlimited(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(["waits without a deadline:", *found])


@pytest.mark.parametrize(
    "text",
    [
        "process.wait()",
        "thread.join()",
        "stop.wait()",
        "asyncio.run(stop.wait())",
        "line = child.stdout.readline()",
        "child.communicate('yes')",
        "child.communicate()",
        "lines.get()",
        "lines.get(block=True)",
        "future.result()",
        "rows = [future.result() for future in futures]",
        "with socket.create_server(a) as server:\n    client, _ = server.accept()",
        "server.settimeout(1)\nclient, _ = server.accept()\nclient.recv(1)",
        "socket.create_connection(('127.0.0.1', 1))",
        "done = subprocess.run(['x'])",
        "subprocess.run(['x'], timeout=3)",
        "with subprocess.Popen(['x']) as child:\n    pass",
        "for line in process.stdout:\n    pass",
        "all(line for line in process.stderr)",
        "process.stderr.read()",
        "os.read(leader, 100)",
        "from concurrent.futures import wait\nwait(futures)",
        "condition.wait_for(ready)",
        "producer.flush()",
        "self._consumer.poll()",
    ],
)
def test_unlimited_waits_are_found(text: str) -> None:
    """Each way to wait for ever."""
    assert len(list(unlimited(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "process.wait(30)",
        "process.wait(timeout=30)",
        "', '.join(words)",
        "thread.join(30)",
        "sizes.get(name)",
        "lines.get(timeout=3)",
        "future.result(0)",
        "child.communicate(timeout=3)",
        "asyncio.wait_for(stop.wait(), 10)",
        "consumer.poll(timeout_ms=5)",
        "server.settimeout(1)\nclient, _ = server.accept()\nclient.settimeout(1)\nclient.recv(1)",
        "with socket.create_connection(a, timeout=9) as client:\n    client.recv(1)",
        "rows = [line for line in done.stdout.splitlines()]",
        "assert 'x' in done.stdout",
        "process.poll()",
        "file.flush()",
        "consumer.poll(0.1)",
        "class Group:\n    def join(self): pass\n    def twice(self): self.join()",
        "wait_until(ready, 'it is ready')",
    ],
)
def test_limited_waits_are_not(text: str) -> None:
    """What looks like one, or has its deadline."""
    assert list(unlimited(text)) == []
