"""Every command with streams that are closed, full, or read by nobody: its work and code stay."""

from collections.abc import Mapping

import pytest

from tests.support.endings.choice import cases, share
from tests.support.endings.lines import LINES, Line
from tests.support.endings.program import Sink
from tests.support.endings.streams import STREAMS, hold_streams
from tests.support.endings.world import World


def fits(line: Line, sinks: Mapping[str, Sink]) -> bool:
    """Whether a line ends under a condition; `--watch` does so only when it cannot be read."""
    return line.kind != "watch" or "stdout" in sinks


CASES = share(
    [
        (name, condition)
        for name, line in LINES.items()
        for condition, sinks in STREAMS.items()
        if fits(line, sinks)
    ],
    each=1,
    least=3,
)


@pytest.mark.share(20)
@pytest.mark.parametrize(("name", "condition"), cases(CASES))
def test_streams(world: World, name: str, condition: str) -> None:
    """The work is done as ever; 74 (1 in the official grammar) where its result is nowhere."""
    hold_streams(world, name, condition)
