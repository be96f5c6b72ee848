"""How long each file of tests takes, recorded by a run with `--record-durations`.

`tests/data/durations.json` has seconds on the clock and of the processor, with those of the
programs that tests start, of the quick tests of a file and of its slow ones. `tests/schedule.py`
orders runs by it, and a run with `--budget` leaves out what no longer fits.
"""

import json
import os
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

RECORD = Path(__file__).parents[1] / "data" / "durations.json"
_TICKS = os.sysconf("SC_CLK_TCK")
_MEASURED = pytest.StashKey[float]()
_PROPERTY = "processor_seconds"
_KIND = "kind"
UNKNOWN_S = 5.0
"""What a file is taken to need that no run has recorded."""


@dataclass(frozen=True)
class Duration:
    """How long tests take.

    Args:
        seconds: on the clock, waiting included.
        processor_seconds: of their process and all that it starts.
    """

    seconds: float = 0.0
    processor_seconds: float = 0.0

    def __add__(self, other: "Duration") -> "Duration":
        return Duration(
            self.seconds + other.seconds, self.processor_seconds + other.processor_seconds
        )


Durations = Mapping[str, Mapping[str, Duration]]
"""By file and kind of test, `quick` or `slow`."""


def kind_of(item: pytest.Item) -> str:
    """`slow` or `quick`."""
    return "slow" if item.get_closest_marker("slow") else "quick"


def file_of(nodeid: str) -> str:
    """The file of a test, from the root of the project."""
    return nodeid.split("::", 1)[0]


def recorded(record: Path = RECORD) -> Durations:
    """What the last runs with `--record-durations` wrote."""
    if not record.exists():
        return {}
    return {
        file: {kind: Duration(*times) for kind, times in kinds.items()}
        for file, kinds in json.loads(record.read_text()).items()
    }


class DurationRecorder:
    """A plugin that adds the processor time of each test to its report, and keeps the sums.

    Args:
        record: where the sums are kept; kinds of tests that did not run keep theirs.
        root: of the files.
    """

    def __init__(self, record: Path = RECORD, root: Path = RECORD.parents[2]) -> None:
        self._record, self._root = record, root
        self._sums: dict[str, dict[str, Duration]] = defaultdict(lambda: defaultdict(Duration))
        self._skipped: set[str] = set()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """A test begins."""
        item.stash[_MEASURED] = processor_seconds(os.getpid())
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Its last report says what it took."""
        report = yield
        if call.when == "teardown":
            spent = processor_seconds(os.getpid()) - item.stash[_MEASURED]
            report.user_properties += [(_PROPERTY, spent), (_KIND, kind_of(item))]
        else:
            report.user_properties += [(_KIND, kind_of(item))]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of every test that began, in the process that hands them out, too."""
        if report.skipped and report.when == "setup":
            self._skipped.add(report.nodeid)
        if report.nodeid in self._skipped:
            return
        said = dict(report.user_properties)
        spent = said.get(_PROPERTY, 0.0) if report.when == "teardown" else 0.0
        duration = Duration(report.duration, float(str(spent)))
        self._sums[file_of(report.nodeid)][str(said[_KIND])] += duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the sums, unless another process does."""
        if not hasattr(session.config, "workerinput"):
            before = recorded(self._record)
            files = {file for file in {*before, *self._sums} if (self._root / file).exists()}
            kept = {file: {**before.get(file, {}), **self._sums.get(file, {})} for file in files}
            self._record.write_text(_text(kept))


def _text(durations: Durations) -> str:
    """A line for each file: one without a line was never recorded."""
    lines = [
        f"{json.dumps(file)}: {json.dumps({kind: _rounded(kinds[kind]) for kind in sorted(kinds)})}"
        for file, kinds in sorted(durations.items())
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _rounded(duration: Duration) -> tuple[float, float]:
    return round(duration.seconds, 1), round(duration.processor_seconds, 1)


def processor_seconds(pid: int) -> float:
    """Of a process, its children that have ended and those that run; none if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    own = sum(map(int, fields[11:15])) / _TICKS
    return own + sum(map(processor_seconds, _children(pid)))


def _children(pid: int) -> Iterator[int]:
    """Those that each thread started; threads come and go."""
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            yield from map(int, file.read_text().split())
