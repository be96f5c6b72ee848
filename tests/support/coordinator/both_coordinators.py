"""Kafka's coordinator and ours, which get the same operations and the same random ids."""

from collections.abc import Callable

from tests.support.coordinator.answer_comparison import side_by_side
from tests.support.coordinator.oracle_adapter import Adapter
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import FIRST_RELEASE


class Both:
    """The two, side by side.

    Args:
        ask: Kafka's.
        release: whose rules ours follows.
    """

    def __init__(self, ask: Callable[[Json], Json], release: str = FIRST_RELEASE) -> None:
        self.ours = Adapter(release=release)
        self._ask = ask

    def answers(self, op: Json) -> tuple[Json, Json, Json]:
        """The operation as it was carried out, Kafka's answer and ours."""
        theirs = self._ask(op)
        sent = {**op, "request": theirs.pop("request")} if "request" in theirs else dict(op)
        if op["op"] == "topics":
            sent["topics"] = theirs["response"]
        return sent, theirs, self.ours.answer({**sent, "uuids": theirs.get("uuids", ())})

    def equal(self, op: Json) -> Json:
        """The answer of both."""
        sent, theirs, mine = self.answers(op)
        want, got = side_by_side(theirs, mine)
        assert got == want, sent
        return theirs
