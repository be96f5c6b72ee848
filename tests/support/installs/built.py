"""A wheel and a source archive, built from a copy of the checkout."""

import sys
from pathlib import Path
from typing import Literal

from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[3]
LEFT_OUT = ("tests/", "typings/", "bench/")

Kind = Literal["wheel", "sdist"]


def build(kind: Kind, folder: Path) -> Path:
    """The package, built of the tracked and new files, as a release would be."""
    source, out = folder / "source", folder / "out"
    listed = run_program(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        origin, target = ROOT / name, source / name
        if origin.is_file() and not name.startswith(LEFT_OUT):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(origin.read_bytes())
    run_program(
        [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(out), "."],
        cwd=source,
        check=True,
    )
    (built,) = out.iterdir()
    return built
