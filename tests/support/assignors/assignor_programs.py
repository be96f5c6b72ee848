"""The strategies of libraries in Go and JavaScript, asked in small programs of their languages."""

import base64
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

from kgroups.assignors.spec import AssignmentRequest
from tests.support.assignors.agreement import LeaderFailedError, Observed
from tests.support.assignors.real_clients import subscription_bytes
from tests.support.kafka.child import run_program
from tests.support.kafka.line_process import LineProcess
from tests.support.sandbox.foreign_clients import CACHE, FOUND
from tests.support.sandbox.foreign_clients import FOLDER as CLIENTS

HERE = Path(__file__).parent
BUILD_TIMEOUT_S = 300

VERSIONS = {"sarama": 2, "franz-go": 3, "kafkajs": 0}
"""Version of the subscription that the library's members send."""

__all__ = ["FOUND", "AssignorProgram"]


class AssignorProgram:
    """A program that answers as leaders of one library do; a context manager.

    Args:
        client: `franz-go`, `sarama` or `kafkajs`.
        balances_racks: whether a franz-go application says `BalanceRacks`.
    """

    def __init__(self, client: str, *, balances_racks: bool = False) -> None:
        self._client = client
        self._balances_racks = balances_racks
        command = _kafkajs() if client == "kafkajs" else _go()
        self._process = LineProcess(command)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def ask(self, strategy: str, times: int, request: AssignmentRequest) -> list[Observed]:
        """What a leader decides, asked so many times: different answers, most frequent first.

        Raises:
            LeaderFailedError: it gave none.
        """
        self._process.say(json.dumps(self._line(strategy, times, request)))
        told: dict[str, Any] = json.loads(self._process.hear())
        if "error" in told:
            raise LeaderFailedError(told["error"])
        found = [
            Observed(
                {
                    member: {topic: numbers for topic, numbers in held.items() if numbers}
                    for member, held in outcome["members"].items()
                },
                outcome["times"],
            )
            for outcome in told["outcomes"]
        ]
        return sorted(found, key=lambda observed: -observed.times)

    def sent(
        self,
        strategy: str,
        topics: Sequence[str],
        held: Mapping[str, Sequence[int]],
        generation: int,
    ) -> bytes:
        """What a member sends when it joins again: of franz-go all, of sarama the user data."""
        joining = {"topics": list(topics), "held": held, "generation": generation}
        asked = {"client": self._client, "strategy": strategy, "joining": joining}
        self._process.say(json.dumps(asked))
        return base64.b64decode(json.loads(self._process.hear())["sent"])

    def _line(self, strategy: str, times: int, request: AssignmentRequest) -> Any:
        version = VERSIONS[self._client]
        return {
            "client": self._client,
            "strategy": strategy,
            "times": times,
            "topics": {name: topic.partitions for name, topic in request.topics.items()},
            "members": [
                {
                    "id": member.member_id,
                    "instance": member.instance_id,
                    "metadata": base64.b64encode(subscription_bytes(member, version)).decode(),
                }
                for member in request.members
            ],
            "leader": request.leader,
            "racks": self._racks(request),
        }

    def _racks(self, request: AssignmentRequest) -> Any:
        """Racks of partitions' leaders, empty where there is none; None where none count."""
        if not self._balances_racks:
            return None
        return {
            name: [rack or "" for rack in topic.leader_racks]
            for name, topic in request.topics.items()
        }


@cache
def _go() -> list[str]:
    """The Go program, built.

    Raises:
        subprocess.CalledProcessError: the build failed; its output says why.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    binary, made = CACHE / "go-assignors", CACHE / f"go-assignors-{os.getpid()}"
    _run(["go", "build", "-o", str(made), "."], HERE / "go")
    made.replace(binary)  # another process may be running the old one
    return [str(binary)]


@cache
def _kafkajs() -> list[str]:
    """The JavaScript program, beside kafkajs.

    Raises:
        subprocess.CalledProcessError: the installation failed; its output says why.
    """
    folder = CACHE / f"assigner-{os.getpid()}"
    folder.mkdir(parents=True, exist_ok=True)
    for source in (
        CLIENTS / "node" / "package.json",
        CLIENTS / "node" / "package-lock.json",
        HERE / "node" / "assigner.js",
    ):
        shutil.copy(source, folder / source.name)
    _run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], folder)
    return ["node", str(folder / "assigner.js")]


def _run(command: list[str], folder: Path) -> None:
    run_program(command, cwd=folder, check=True, timeout_s=BUILD_TIMEOUT_S)
