"""The JDK that the real broker needs: found, checked, and run with flags for a quick start."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from kgroups.core.errors import UsageError
from tests.support.kafka.child import run_program

MINIMUM_JAVA = 17
INSTALL_HINT = (
    f"install a JDK {MINIMUM_JAVA} or newer (on Debian and Ubuntu: apt-get install"
    f" openjdk-{MINIMUM_JAVA}-jdk-headless) and put its `java` and `javac` first on PATH"
)

# One collector thread, the quick compiler only, shared class data: a JVM that starts quickly.
QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx512m")
LOG_SETTINGS = Path(__file__).parent / "java" / "log4j2.yaml"
OLD_LOG_SETTINGS = LOG_SETTINGS.with_name("log4j.properties")


class JavaMissing(UsageError):
    """No JDK, or one too old for Kafka's broker."""

    default_code = "JAVA_MISSING"


def major_version(text: str) -> int | None:
    """Java's major version out of what `java -version` or `javac -version` prints, or None.

    Both spellings are understood: `1.8.0_412` is 8, `17.0.15` is 17.
    """
    found = re.search(r'(?:version "|javac )(\d+)(?:\.(\d+))?', text)
    if found is None:
        return None
    first, second = int(found[1]), int(found[2] or 0)
    return second if first == 1 else first


def require_java() -> str:
    """Version line of the JDK on PATH, for people.

    Raises:
        JavaMissing: `java` or `javac` is not there, does not run, or is older than 17.
    """
    line = ""
    for program in ("java", "javac"):
        if shutil.which(program) is None:
            raise JavaMissing(f"`{program}` is not on PATH", hint=INSTALL_HINT)
        done = run_program([program, "-version"])
        said = done.stderr + done.stdout
        major = major_version(said)
        if done.returncode != 0 or major is None:
            first_line = (said.strip().splitlines() or ["nothing"])[0]
            raise JavaMissing(f"`{program} -version` answers: {first_line}", hint=INSTALL_HINT)
        if major < MINIMUM_JAVA:
            raise JavaMissing(
                f"`{program}` is version {major}, the Kafka of the tests needs {MINIMUM_JAVA}",
                hint=INSTALL_HINT,
            )
        line = line or said.strip().splitlines()[0]
    return line


def class_archive(class_path: str) -> Path:
    """Where the classes of a class path are kept as the JVM maps them, beside its first jar."""
    jar = Path(class_path.split(os.pathsep, 1)[0])
    return jar.with_name(f"{hashlib.sha256(class_path.encode()).hexdigest()[:16]}.jsa")


def java_command(
    class_path: str,
    main: str,
    *arguments: str,
    log_level: str = "WARN",
    properties: Mapping[str, str] = MappingProxyType({}),
    options: Iterable[str] | None = None,
) -> list[str]:
    """Command line of one quickly started JVM whose log goes to its stderr.

    Args:
        properties: of the JVM.
        options: more of its options; None maps the archive of the class path, if there is one.
    """
    if options is None:
        archive = class_archive(class_path)
        # A JVM that can do nothing with it starts without, and in silence.
        mapped = (f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")
        options = mapped if archive.exists() else ()
    logging = (
        f"-Dlog4j2.configurationFile={LOG_SETTINGS}",
        f"-Dlog4j.configuration=file:{OLD_LOG_SETTINGS}",  # of releases before 4.0
        f"-Dkgroups.log.level={log_level}",
    )
    given = (f"-D{name}={value}" for name, value in properties.items())
    before = (*QUICK_START, *options, *logging, *given)
    return ["java", *before, "-cp", class_path, main, *arguments]
