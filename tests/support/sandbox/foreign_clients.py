"""Clients of other languages: which are here, and how their programs are built."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.support.kafka.child import run_program

FOLDER = Path(__file__).parent / "clients"
CACHE = Path(__file__).parents[3] / ".cache" / "clients"
BUILD_TIMEOUT_S = 300

RUNTIMES: Mapping[str, str] = {"franz-go": "go", "sarama": "go", "kafkajs": "node"}
"""Client and the program that it needs."""

MISSING: tuple[str, ...] = tuple(
    sorted({program for program in RUNTIMES.values() if shutil.which(program) is None})
)
FOUND: tuple[str, ...] = tuple(name for name, program in RUNTIMES.items() if program not in MISSING)


def build(client: str) -> list[str]:
    """The command that runs members of this client, after it was built or installed.

    Raises:
        subprocess.CalledProcessError: the build failed; its output says why.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    if client == "kafkajs":
        for name in ("package.json", "package-lock.json", "host.js"):
            shutil.copy(FOLDER / "node" / name, CACHE / name)
        _run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], CACHE)
        return ["node", str(CACHE / "host.js")]
    binary = CACHE / "go-members"
    _run(["go", "build", "-o", str(binary), "."], FOLDER / "go")
    return [str(binary), client]


def _run(command: list[str], folder: Path) -> None:
    run_program(command, cwd=folder, check=True, timeout_s=BUILD_TIMEOUT_S)
