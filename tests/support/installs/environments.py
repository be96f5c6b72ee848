"""Clean environments made of what is installed here, without asking any index."""

import compileall
import os
import shutil
import sys
import venv
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

from tests.support.cli.process import environment
from tests.support.kafka.child import run_program


class Environment(NamedTuple):
    """A virtual environment with a wheel and what that requires."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def run(self, *args: str, cwd: Path) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of `kgroups ARGS` there."""
        done = run_program([self.python, "-m", "kgroups.cli", *args], cwd=cwd, env=environment())
        return done.returncode, done.stdout, done.stderr

    def can_import(self, *modules: str) -> list[str]:
        """Those of the modules that are there."""
        probe = (
            "import sys; from importlib.util import find_spec;"
            "print(*filter(find_spec, sys.argv[1:]))"
        )
        done = run_program([self.python, "-c", probe, *modules], env=environment(), check=True)
        return done.stdout.split()

    def mebibytes(self) -> int:
        """What it takes on the disk, as `du -sm` counts."""
        files = {
            (info.st_dev, info.st_ino): info.st_blocks * 512
            for path in self.folder.rglob("*")
            for info in [path.lstat()]
        }
        return -(-sum(files.values()) // 2**20)


def environment_of(wheel: Path, folder: Path, extras: Sequence[str] = ()) -> Environment:
    """An environment with a wheel, and the distributions that it requires with these extras."""
    venv.create(folder, symlinks=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (metadata,) = site.glob("*.dist-info")
    for found in _required(PathDistribution(metadata), extras, set()):
        for file in found.files or ():
            if ".." not in file.parts:
                _link(Path(str(found.locate_file(file))), site / file)
    assert compileall.compile_dir(site / "kgroups", quiet=2)
    return Environment(folder)


def _required(
    package: Distribution, extras: Sequence[str], seen: set[str]
) -> Iterator[Distribution]:
    """What a distribution requires here, directly or not."""
    for text in package.requires or ():
        requirement = Requirement(text)
        wanted = [{"extra": extra} for extra in extras or ("",)]
        marker = requirement.marker
        if marker is not None and not any(marker.evaluate(each) for each in wanted):
            continue
        name = requirement.name.lower()
        found = package if name == "kgroups" else distribution(name)
        if (key := f"{name}[{','.join(sorted(requirement.extras))}]") not in seen:
            seen.add(key)
            if found is not package:
                yield found
            yield from _required(found, tuple(requirement.extras), seen)


def _link(origin: Path, target: Path) -> None:
    """The same file at another place; a copy where that is on another disk."""
    if not origin.is_file() or target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(origin, target)
    except OSError:
        shutil.copy2(origin, target)


def here() -> Path:
    """The folder of this environment's programs."""
    return Path(sys.executable).parent
