"""The Java that Spark runs on, and the archive of its classes that makes it start faster."""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from pyspark import __version__

from kgroups.core.errors import KgroupsError

MIN_JAVA = 17
PREFIX = "spark-"
UNUSED_S = 60 * 86_400.0
"""An archive that no run has used for so long is of a Java or a Spark that is gone."""


def find_java() -> Path:
    """The `java` that Spark will run: of JAVA_HOME, else of the path.

    Raises:
        KgroupsError: there is none, or it is too old for Spark.
    """
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if command is None or not Path(command).exists():
        raise KgroupsError(
            f"Spark requires Java {MIN_JAVA} or newer, but `{command or 'java'}` was not found",
            hint="install a JDK (Debian: openjdk-17-jre-headless) or set JAVA_HOME",
            code="JAVA_MISSING",
        )
    java = Path(command).resolve()
    version = java_version(java)
    if version is not None and version < MIN_JAVA:
        raise KgroupsError(
            f"Spark requires Java {MIN_JAVA} or newer, but `{java}` is version {version}",
            hint="install a newer JDK or set JAVA_HOME to one",
            code="JAVA_TOO_OLD",
        )
    return java


def java_version(java: Path) -> int | None:
    """Feature version of a `java`: 17 for 17.0.15, 8 for 1.8.0; None if it does not tell."""
    release = java.parents[1] / "release"  # a file that every JDK has; running java costs 0.1 s
    text = release.read_text(errors="replace") if release.is_file() else ""
    match = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', text)
    if match is None:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
        match = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    return int(match[1]) if match else None


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The JVM's loaded classes in a file: made by the first run, mapped by the later ones.

    The JVM writes it when it ends; it gets its name only then, whole, so that a run beside it
    never sees half a file.
    """

    path: Path
    is_new: bool
    is_first: bool = False
    """Whether the folder has none yet, of any kind."""

    @classmethod
    def of(cls, java: Path, folder: Path, kind: str = "any") -> "ClassArchive | None":
        """The archive for this Java, this Spark and a kind of job; None where the folder cannot be
        written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        import pyspark

        # The JVM checks the class path itself; a changed name spares its warning about it.
        jars = Path(str(pyspark.__file__)).parent / "jars"
        facts = f"{java} {java.stat().st_mtime_ns} {__version__} {jars} {jars.stat().st_mtime_ns}"
        name = f"{PREFIX}{kind}-{hashlib.sha256(facts.encode()).hexdigest()[:16]}.jsa"
        path = folder / name
        _remove_abandoned(folder)
        is_first = not any(folder.glob(f"{PREFIX}*.jsa"))
        with contextlib.suppress(OSError):
            os.utime(path)  # used now
        return cls(path, is_new=not path.exists(), is_first=is_first)

    @property
    def _written(self) -> Path:
        return self.path.with_suffix(f".{os.getpid()}")

    def flags(self) -> list[str]:
        """JVM options: use the archive, or write it at the end."""
        if self.is_new:
            return [f"-XX:ArchiveClassesAtExit={self._written}"]
        return [f"-XX:SharedArchiveFile={self.path}", "-Xshare:auto"]

    def keep(self) -> None:
        """Gives the archive its name, once the JVM has written and ended."""
        if self.is_new:
            with contextlib.suppress(FileNotFoundError):  # the JVM has written none
                self._written.replace(self.path)
                _remove_unused(self.path.parent)

    def discard(self) -> None:
        """Removes what the JVM has written, where it is not to be kept."""
        if self.is_new:
            self._written.unlink(missing_ok=True)


def _remove_unused(folder: Path) -> None:
    """Removes archives, 170 MB each, of other Javas and Sparks that no run has used for long."""
    for path in folder.glob(f"{PREFIX}*.jsa"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - UNUSED_S:
                path.unlink()


def _remove_abandoned(folder: Path) -> None:
    """Removes archives of processes that ended before they could give them a name."""
    for path in folder.glob(f"{PREFIX}*.*"):
        number = path.suffix.removeprefix(".")
        if number.isdigit() and not _runs(int(number)):
            with contextlib.suppress(OSError):
                path.unlink()


def _runs(pid: int) -> bool:
    """Whether there is such a process, whosever it is."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
