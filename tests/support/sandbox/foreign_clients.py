"""Clients of other languages: which are here, how they are built, and one member as a process."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.support.kafka.child import run_program
from tests.support.kafka.line_process import LineProcess

FOLDER = Path(__file__).parent / "clients"
CACHE = Path(__file__).parents[3] / ".cache" / "clients"
BUILD_TIMEOUT_S = 300
LEAVE_TIMEOUT_S = 60

RUNTIMES: Mapping[str, str] = {"franz-go": "go", "sarama": "go", "kafkajs": "node"}
"""Client and the program that it needs."""

MISSING: tuple[str, ...] = tuple(
    sorted({program for program in RUNTIMES.values() if shutil.which(program) is None})
)
FOUND: tuple[str, ...] = tuple(name for name, program in RUNTIMES.items() if program not in MISSING)


def build(client: str) -> list[str]:
    """The command that runs a member of this client, after it was built or installed.

    Raises:
        subprocess.CalledProcessError: the build failed; its output says why.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    if client == "kafkajs":
        for name in ("package.json", "package-lock.json", "member.js", "host.js"):
            shutil.copy(FOLDER / "node" / name, CACHE / name)
        _run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], CACHE)
        return ["node", str(CACHE / "member.js")]
    binary = CACHE / "go-members"
    _run(["go", "build", "-o", str(binary), "."], FOLDER / "go")
    return [str(binary), client]


def _run(command: list[str], folder: Path) -> None:
    run_program(command, cwd=folder, check=True, timeout_s=BUILD_TIMEOUT_S)


class ForeignMember:
    """One member in a process of its own, that tells what it owns and reads."""

    def __init__(self, command: list[str], servers: str, topic: str, group: str) -> None:
        self.owned: frozenset[int] = frozenset()
        self.values: list[str] = []
        self._process = LineProcess([*command, servers, topic, group], heard=self._hear)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def partitions(self) -> set[int]:
        """What is assigned now."""
        return set(self.owned)

    def leave(self) -> int:
        """Have it commit and leave; its exit status."""
        try:
            return self._process.close(LEAVE_TIMEOUT_S)
        finally:
            self.owned = frozenset()

    def _hear(self, line: str) -> None:
        told: dict[str, Any] = json.loads(line or "{}")
        if "assigned" in told:
            self.owned = frozenset(told["assigned"])
        if "value" in told:
            self.values.append(told["value"])
