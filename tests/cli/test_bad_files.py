"""Files that are broken, endless or absurd: exit 2, one sentence, little memory.

Each kind of file that the program reads meets each kind of bad content, and each thing that is no
file. The commands that need a cluster get an embedded one.
"""

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import cramjam
import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.measured import Measured, measure
from tests.support.endings.choice import WHOLE
from tests.support.endings.world import random_for
from tests.support.kafka.workload import commit_offsets

MAX_PEAK_BYTES = 400_000_000
MAX_CPU_S = 30.0


class Kind(NamedTuple):
    """A kind of file.

    Args:
        suffix: of its name.
        command: that reads one, with `{file}`, `{folder}` around it, `{cluster}`, `{properties}`.
        exit_code: of that command.
        name: of the file within a folder, where it must have one.
        properties: of the client that name it.
        optional: whether it may be missing.
    """

    suffix: str
    command: tuple[str, ...]
    exit_code: int = 2
    name: str = ""
    properties: tuple[str, ...] = ("ssl.ca.location",)
    optional: bool = False


SECURE = ("list", "-b", "{cluster}", "--command-config", "{properties}")
RESET = ("-b", "{cluster}", "reset-offsets", "g", "--dry-run")
OFFICIAL = ("--bootstrap-server", "{cluster}")
KINDS: dict[str, Kind] = {
    "snapshot": Kind(".json", ("list", "--from", "{file}")),
    "YAML snapshot": Kind(".yaml", ("list", "--from", "{file}")),
    "packed snapshot": Kind(".jsonl.zst", ("describe", "--all-groups", "--from", "{file}")),
    "snapshot as lines": Kind(".jsonl", ("describe", "--all-groups", "--from", "{file}")),
    "snapshot for a sandbox": Kind(".json", ("sandbox", "up", "--port", "0", "--from", "{file}")),
    "planning scenario": Kind(".yaml", ("plan", "--from", "{file}")),
    "simulation": Kind(".yaml", ("simulate", "{file}")),
    "faults": Kind(".yaml", ("sandbox", "up", "--port", "0", "--faults", "{file}")),
    "client properties": Kind(
        ".properties", ("list", "-b", "{cluster}", "--command-config", "{file}")
    ),
    "offsets": Kind(".csv", (*RESET, "--to", "file:{file}")),
    "offsets of records": Kind(
        ".csv", ("-b", "{cluster}", "delete-records", "t", "--before", "file:{file}", "--dry-run")
    ),
    "official plan": Kind(
        ".csv",
        (*OFFICIAL, "--reset-offsets", "--group", "g", "--from-file", "{file}", "--dry-run"),
        1,
    ),
    "official records": Kind(
        ".json", ("delete-records", *OFFICIAL, "--offset-json-file", "{file}"), 1
    ),
    "trust store": Kind(".pem", SECURE),
    "certificate and key": Kind(
        ".pem", SECURE, properties=("ssl.certificate.location", "ssl.key.location")
    ),
    "undo file": Kind(".json", ("-b", "{cluster}", "reset-offsets", "--undo", "{file}", "--yes")),
    "undo file to resume": Kind(
        ".json", ("-b", "{cluster}", "reset-offsets", "--resume", "{file}", "--yes")
    ),
    "saved plan": Kind(".json", ("-b", "{cluster}", "apply", "{file}", "--yes")),
    "pairs of groups": Kind(
        ".csv", ("-b", "{cluster}", "copy-offsets", "--map-file", "{file}", "--dry-run")
    ),
    "properties of a target": Kind(
        ".properties",
        (
            *("-b", "{cluster}", "copy-offsets", "--from", "source", "--to", "h", "--dry-run"),
            *("--to-bootstrap-server", "{cluster}", "--to-command-config", "{file}"),
        ),
    ),
    "snapshot to plan": Kind(".json", ("plan", "--from", "{file}", "--all-groups")),
    "snapshot to simulate": Kind(".json", ("simulate", "--from", "{file}", "--from-group", "g")),
    "meta of a data directory": Kind(
        ".json",
        ("sandbox", "up", "--port", "0", "--data-dir", "{folder}"),
        name="meta.json",
        optional=True,
    ),
    "log of a table of captures": Kind(
        ".json",
        ("lag", "compact", "{folder}"),
        exit_code=1,
        name="rows/_delta_log/00000000000000000000.json",
        optional=True,
    ),
}

BYTES: dict[str, bytes | Callable[[], bytes]] = {
    "nothing": b"",
    "NULs": bytes(1_000),
    "no UTF-8": b"\xff\xfe\xfa" * 100,
    "a word": b"hello",
    "deep lists": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000,
    "deep and closed": b"[" * 50_000 + b"]" * 50_000,
    "deep YAML": b"".join(b" " * depth + b"a:\n" for depth in range(1_500)),
    "a number beyond all": b'{"a": ' + b"9" * 5_000 + b"}",
    "2^70": b'{"schema": "kgroups.snapshot/1", "items": 1180591620717411303424}',
    "infinity": b'{"a": 1e999}',
    "no number": b'{"a": NaN}',
    "half a character": b'{"a": "\\ud800"}',
    "laughs": b"a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 10)) for n in range(9)
    ),
    "a long line": b"a" * 5_000_000,
    "a long key": b'{"' + b"k" * 1_000_000 + b'": 1}',
    "many values": b"[" + b"[]," * 5_000_000 + b"0]",
    "many keys": lambda: b"{" + b",".join(b'"%d":{}' % n for n in range(1_000_000)) + b"}",
    "many lines": b"t,0,0\n" * 1_000_000,
    "many numbers": b"t,9999999999999999999999999,1\n" * 10,
    "a list": b"[1, 2, 3]",
    "two documents": b"a: 1\n---\nb: 2\n",
    "a tag": b"a: !!python/object/apply:os.system ['true']\n",
    "a mark and nothing": b"\xef\xbb\xbf",
}

PROPERTIES = ("nothing", "a mark and nothing", "laughs", "a tag")
GOOD = {
    (".pem", "a folder"),
    (".csv", "2^70"),
    *((".properties", name) for name in PROPERTIES),
}
"""What is a file of its kind after all: a folder of certificates, two groups, odd properties."""
HEAVY = {("_delta_log", "many values"): 700_000_000}
"""More bytes of memory than else: the table format's own library reads a commit as a whole."""
OPTIONAL = "nothing there"
"""Not an error where the file is made when it is missing, or nobody asked for it."""

Maker = Callable[[Path], None]


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50 << 30)


def _long(path: Path) -> None:
    path.write_bytes(b" " * (90 << 20))


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


PLACES: dict[str, Maker] = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": lambda path: os.mkfifo(path),
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "an empty device": lambda path: path.symlink_to("/dev/null"),
    OPTIONAL: lambda path: None,
    "a link to itself": _loop,
    "fifty gigabytes": _sparse,
    "ninety megabytes": _long,
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster with a topic, and a group to copy from."""
    with Sandbox(brokers=1, topics={"t": 2}) as running:
        commit_offsets(running.bootstrap_servers, {"source": {("t", 0): 0}})
        yield running.bootstrap_servers


def some_of(names: Collection[str], kind: Kind, count: int) -> list[str]:
    """All of the names, or so many for each kind: others for the next, so that each is used."""
    if WHOLE:
        return list(names)
    mixed = list(names)
    random_for("bad files", len(mixed)).shuffle(mixed)
    first = list(KINDS.values()).index(kind) * count
    return [mixed[(first + at) % len(mixed)] for at in range(count)]


def place_of(kind: Kind, folder: Path, name: str) -> Path:
    """Where a bad file of the kind is put: nothing is there yet."""
    bad = f"bad-{name.replace(' ', '-').replace('^', '')}"
    if not kind.name:
        return folder / f"{bad}{kind.suffix}"
    file = folder / bad / kind.name
    file.parent.mkdir(parents=True)
    return file


def run(kind: Kind, file: Path, cluster: str, place: Path) -> Measured:
    """The command of the kind, with this file."""
    properties = place / "client.properties"
    lines = ["security.protocol=SSL", *(f"{name}={file}" for name in kind.properties)]
    properties.write_text("\n".join(lines))
    folder = str(file)[: -len(kind.name)] if kind.name else str(file.parent)
    names = {"file": str(file), "cluster": cluster, "properties": str(properties)}
    names["folder"] = folder
    return measure(place, *(word.format(**names) for word in kind.command))


def most_bytes(file: Path) -> int:
    """What reading a file may take of memory."""
    for (folder, name), most in HEAVY.items():
        if file.parent.name == folder and name.replace(" ", "-") in str(file):
            return most
    return MAX_PEAK_BYTES


def complaints(kind: Kind, result: Measured, file: Path) -> str | None:
    """What is wrong with how the program took a bad file; None if nothing is."""
    print(file.name, result)
    words = result.stderr.strip()
    said = result.errors if kind.exit_code == 2 else [words] * bool(words)
    if result.code != kind.exit_code:
        return f"exit {result.code}: {words[:300]}"
    if result.peak_bytes > most_bytes(file):
        return f"{result.peak_bytes:,} bytes"
    if result.cpu_s > MAX_CPU_S:
        return f"{result.cpu_s:.1f} s"
    if len(said) != 1 or "Traceback" in words or "a bug in" in words:
        return words[:300]
    if max(map(len, words.splitlines()), default=0) > 700:
        return f"a line of {max(map(len, words.splitlines())):,} characters"
    if (kind.exit_code == 2 or kind.name) and file.name not in said[0]:
        return f"the file is not named: {said[0][:300]}"
    return None


@pytest.mark.share(12)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_bad_contents(kind: Kind, cluster: str, tmp_path: Path) -> None:
    """Whatever stands in the file."""
    wrong = {}
    for name in some_of(BYTES, kind, 3):
        file = place_of(kind, tmp_path, name)
        made = BYTES[name]
        file.write_bytes(made() if callable(made) else made)
        complaint = complaints(kind, run(kind, file, cluster, tmp_path), file)
        if complaint is not None and (kind.suffix, name) not in GOOD:
            wrong[name] = complaint
        file.unlink()
    assert wrong == {}


HEAD = (
    b'{"schema":"kgroups.snapshot.lines/1","generated_at":"2026-01-01T00:00:00Z",'
    b'"topics":%d,"groups":999999}\n'
)
GROUP = b'{"group":"g","type":"classic","state":null,"members":[]}\n'
PACKED = {
    "a gigabyte of nothing": (0, bytes(1 << 20), 1024),
    "a line that does not end": (0, b" " * (1 << 20), 180),
    "deep lists": (0, b'{"group":"g","offsets":' + b"[" * 1_000 + b"\n", 20_000),
    "many topics": (
        20,
        b'{"topic":"t","partitions":[' + b'{"partition":0},' * 400_000 + b"{}]}\n",
        20,
    ),
    "many groups": (0, GROUP, 100_000),
    "four times as many groups": (0, GROUP, 400_000),
}
"""What may be in a small file that is packed: so many topics, a text, and how many times."""


@pytest.mark.share(3)
@pytest.mark.parametrize("name", PACKED)
def test_packed_contents(name: str, tmp_path: Path) -> None:
    """However much a small file unpacks to, it is refused within the same bounds."""
    kind = KINDS["packed snapshot"]
    topics, text, times = PACKED[name]
    file = tmp_path / f"packed{kind.suffix}"
    packer = cramjam.zstd.Compressor(1)
    packer.compress(HEAD % topics)
    for _ in range(times):
        packer.compress(text)
    file.write_bytes(bytes(packer.finish()))
    result = run(kind, file, "", tmp_path)
    assert complaints(kind, result, file) is None
    assert name != "many groups" or result.peak_bytes < MAX_PEAK_BYTES / 3


@pytest.mark.share(24)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_places_that_are_no_files(kind: Kind, cluster: str, tmp_path: Path) -> None:
    """Folders, pipes and devices are refused before they are read, and so is what is too long."""
    wrong = {}
    places = [name for name in PLACES if name != OPTIONAL or not kind.optional]
    for name in some_of(places, kind, 2):
        file = place_of(kind, tmp_path, name)
        PLACES[name](file)
        complaint = complaints(kind, run(kind, file, cluster, tmp_path), file)
        if complaint is not None and (kind.suffix, name) not in GOOD:
            wrong[name] = complaint
        if name == "ninety megabytes":
            file.unlink()
    assert wrong == {}
