"""`lag`, `random`, `broadcast`, strategies of the user's, and the checker that tries them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kgroups.assignors.by_lag.lags import LagAssignor, StickyLagAssignor
from kgroups.assignors.java.ranges import RangeAssignor
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.assignors.user import user_defined
from kgroups.assignors.user.conformance import check_assignor
from kgroups.assignors.user.examples import BroadcastAssignor, RandomAssignor, split_mix
from kgroups.assignors.user.user_defined import GuardedAssignor, load_assignor
from tests.support.kafka.child import run_program

HERE = "tests.assignors.user.test_own_strategies"
MEMBERS = [MemberSubscription("C0", ("t",)), MemberSubscription("C1", ("t",))]
Answer = Mapping[Any, Any]


def request(lags: tuple[int | None, ...], **options: object) -> AssignmentRequest:
    """Two members and one topic with these lags."""
    return AssignmentRequest(MEMBERS, {"t": TopicPartitions(len(lags), lag=lags)}, options=options)


def test_lag_as_published() -> None:
    """100k, 50k and 60k behind: the first member takes the first, the second the others."""
    result = LagAssignor().assign(request((100_000, 50_000, 60_000)))
    assert dict(result.items()) == {"C0": {"t": [0]}, "C1": {"t": [2, 1]}}


def test_unknown_lag_counts_as_none() -> None:
    """Partitions whose lag is not known come last, in order."""
    result = LagAssignor().assign(request((None, 5, None)))
    assert dict(result.items()) == {"C0": {"t": [1]}, "C1": {"t": [0, 2]}}


def test_sticky_lag_exchanges_what_is_needed() -> None:
    """Counts stay even; the two heavy partitions end with different members."""
    members = [
        MemberSubscription("C0", ("t",), owned=(("t", (0, 1)),), generation=1),
        MemberSubscription("C1", ("t",), owned=(("t", (2, 3)),), generation=1),
    ]
    heavy = AssignmentRequest(members, {"t": TopicPartitions(4, lag=(900, 800, 10, 20))})
    result = StickyLagAssignor().assign(heavy)
    assert result.counts() == [2, 2]
    owners = {p: m for m, held in result.items() for p in held["t"]}
    assert owners[0] != owners[1]
    light = AssignmentRequest(members, {"t": TopicPartitions(4, lag=(9, 8, 10, 9))})
    assert StickyLagAssignor().assign(light).partitions_of("C0") == [("t", 0), ("t", 1)]
    single = AssignmentRequest(members, {"t": TopicPartitions(4, lag=(900, 0, 0, 0))})
    assert StickyLagAssignor().assign(single).partitions_of("C0") == [("t", 0), ("t", 1)]


@pytest.mark.parametrize("skew", [0.5, "much"])
def test_sticky_lag_refuses_a_wrong_skew(skew: object) -> None:
    """`max_skew` is a number from 1 on."""
    with pytest.raises(AssignorError, match="max_skew"):
        StickyLagAssignor().assign(request((1, 2), max_skew=skew))


def test_lag_without_lag_has_nothing_to_even_out() -> None:
    """Lag that nobody knows leaves the sticky answer as it is."""
    result = StickyLagAssignor().assign(request((None, None)))
    assert result.counts() == [1, 1]


def test_nothing_helps_when_nobody_else_reads_the_topic() -> None:
    """A heavy partition stays where nobody else subscribes to its topic."""
    members = [MemberSubscription("C0", ("t",)), MemberSubscription("C1", ("u",))]
    topics = {"t": TopicPartitions(2, lag=(500, 400)), "u": TopicPartitions(2, lag=(1, 1))}
    result = StickyLagAssignor().assign(AssignmentRequest(members, topics))
    assert result.partitions_of("C0") == [("t", 0), ("t", 1)]


def test_split_mix_is_the_published_generator() -> None:
    """First numbers of SplitMix64 for seed 0."""
    numbers = split_mix(0)
    assert [next(numbers) for _ in range(2)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_random_depends_on_the_seed_alone() -> None:
    """The same seed, the same answer; the seed is a whole number."""
    one, again, other = (
        dict(RandomAssignor().assign(request((0,) * 40, seed=seed)).items()) for seed in (1, 1, 2)
    )
    assert one == again != other
    with pytest.raises(AssignorError, match="seed"):
        RandomAssignor().assign(request((0,), seed="x"))


def test_broadcast_gives_everything_to_everybody() -> None:
    """Every member reads all partitions."""
    result = BroadcastAssignor().assign(request((0, 0)))
    assert result.partitions_of("C0") == result.partitions_of("C1") == [("t", 0), ("t", 1)]


class FirstTakesAll:
    """A strategy of a user, not a good one."""

    name = "first-takes-all"

    def assign(self, request: AssignmentRequest) -> Answer:
        """Everything to the first member."""
        topics = {name: range(topic.partitions) for name, topic in request.topics.items()}
        return {request.members[0].member_id: topics}


class Says:
    """A strategy that answers what it was made with."""

    name = "says"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def assign(self, request: AssignmentRequest) -> Any:
        """The given answer; an exception is raised."""
        if isinstance(self.answer, BaseException):
            raise self.answer
        if callable(self.answer):
            return self.answer(request)
        return self.answer


class NeedsArguments(Says):
    """A strategy whose class cannot be made without arguments."""


in_place = RangeAssignor("in-place")
NOT_ONE = 5


def test_a_strategy_by_path() -> None:
    """A class is made, an object is taken as it is."""
    made = load_assignor(f"{HERE}:FirstTakesAll")
    assert made.name == "first-takes-all"
    assert made.assign(request((0, 0))).partitions_of("C0") == [("t", 0), ("t", 1)]
    assert assignor(f"{HERE}:in_place").name == "in-place"
    assert assignor(f"{HERE}:in_place").assign(request((0, 0))).partitions_of("C1") == [("t", 1)]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no.such.module:X", "cannot be loaded: ModuleNotFoundError"),
        (f"{HERE}:Missing", "cannot be loaded: AttributeError"),
        (f"{HERE}:NeedsArguments", "cannot be created: TypeError"),
        (f"{HERE}:NOT_ONE", "is not an assignor"),
        ("nobody-registered-this", "unknown assignor"),
    ],
)
def test_a_strategy_that_is_none(path: str, message: str) -> None:
    """What cannot be loaded is named, with the reason."""
    with pytest.raises(AssignorError, match=message):
        load_assignor(path)


def test_a_strategy_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed entry point is found by its name."""
    from importlib.metadata import EntryPoint, EntryPoints

    points = EntryPoints([EntryPoint("mine", f"{HERE}:in_place", user_defined.ENTRY_POINTS)])
    monkeypatch.setattr(user_defined, "entry_points", lambda **by: points.select(**by))
    assert assignor("mine").name == "in-place"
    with pytest.raises(AssignorError, match="unknown assignor"):
        assignor("yours")


class Half:
    """An answer object that is not compact."""

    def __init__(self, member_ids: list[str], partitions: list[tuple[str, int]]) -> None:
        self.member_ids = member_ids
        self._partitions = partitions

    def partitions_of(self, member_id: str) -> list[tuple[str, int]]:
        """The same for everybody."""
        return self._partitions


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (ValueError("oh"), "raised ValueError: oh"),
        (AssignorError("its own words"), "its own words"),
        (None, "returned NoneType"),
        ({"C9": {}}, "unknown member `C9`"),
        ({"C0": {"t": [0, 0]}}, "t-0 twice"),
        ({"C0": {"t": [7]}}, "t-7, which does not exist"),
        ({"C0": {"u": [0]}}, "u-0, which does not exist"),
        ({"C0": {"t": "x"}}, "something other than partitions"),
        ({"C0": 5}, "something other than partitions"),
        (Half(["C9"], []), "unknown member `C9`"),
        (Half(["C0"], [("t", 0), ("t", 0)]), "t-0 twice"),
        (Half(["C0"], [("t", 5)]), "t-5, which does not exist"),
    ],
)
def test_wrong_answers_are_named(answer: object, message: str) -> None:
    """Whatever a strategy does wrong, the error names the strategy and the fault."""
    with pytest.raises(AssignorError, match=message):
        GuardedAssignor(Says(answer)).assign(request((0, 0)))


def test_a_strategy_that_does_not_end() -> None:
    """It is given up after the limit."""
    from threading import Event

    never = Event()
    with pytest.raises(AssignorError, match="took more than 50 ms"):
        GuardedAssignor(Says(lambda _: never.wait(5)), limit_ms=50).assign(request((0,)))
    never.set()


def test_the_checker_prints_a_small_case() -> None:
    """A strategy without a promise to break it down: one member, one topic less and it holds."""
    found = check_assignor(GuardedAssignor(FirstTakesAll()), 1, 60)
    kinds = {finding.property for finding in found}
    assert kinds == {"subscribed", "balanced", "order-free"}
    balanced = next(f for f in found if f.property == "balanced")
    assert balanced.case.count("\n") == 2, balanced.case
    assert "has 2 partitions" in balanced.message


class Forgetful(RangeAssignor):
    """A strategy that forgets the last topic, and is different each time."""

    waives = frozenset()

    def __init__(self) -> None:
        super().__init__("forgetful")
        self.calls = 0

    def assign(self, request: AssignmentRequest) -> Any:
        """Everything but the last topic, twice the second time."""
        self.calls += 1
        topics = dict(list(request.topics.items())[: -1 if self.calls % 2 else None])
        return super().assign(AssignmentRequest(request.members, topics))


class Doubling(BroadcastAssignor):
    """A broadcast that promises to be exclusive."""

    waives = frozenset({"balanced"})


def test_the_checker_finds_each_kind() -> None:
    """Incomplete, not deterministic, not sticky, not unique."""
    found = {finding.property for finding in check_assignor(Forgetful(), 2, 40)}
    assert {"complete", "deterministic", "sticky"} <= found
    assert [f.property for f in check_assignor(Doubling(), 2, 20)] == ["unique"]


@pytest.mark.parametrize(
    ("owned", "partitions", "came"),
    [
        ({"a": (3, 4), "zc0": (2,), "b": (0, 1)}, 7,
         {"a": {3, 4, 5}, "zc0": {2, 6}, "b": {0, 1}}),
        ({"a": (3, 4), "ac0": (2,), "b": (0, 1)}, 9,
         {"a": {3, 4, 7}, "ac0": {2, 6, 8}, "b": {0, 1, 5}}),
        ({"ac0": (6, 8), "ae4": (0, 2), "b": (1, 5), "a": (3, 4, 7)}, 13,
         {"a": {3, 4, 7, 9}, "ac0": {6, 8, 12}, "ae4": {0, 2, 11}, "b": {1, 5, 10}}),
    ],
)  # fmt: skip
def test_librdkafka_deals_backwards(
    owned: Mapping[str, tuple[int, ...]], partitions: int, came: Mapping[str, set[int]]
) -> None:
    """What groups of librdkafka 2.16 had on a 4.3 broker after their topic grew."""
    members = [
        MemberSubscription(f"{name}-1", ("t",), owned=[("t", numbers)], generation=3)
        for name, numbers in owned.items()
    ]
    answer = assignor("cooperative-sticky", "librdkafka").assign(
        AssignmentRequest(members, {"t": TopicPartitions(partitions)}, generation=3)
    )
    assert {member: set(held["t"]) for member, held in answer.items()} == {
        f"{name}-1": numbers for name, numbers in came.items()
    }


def test_the_template_in_the_documents_works() -> None:
    """The strategy that the README shows keeps what it promises."""
    text = (Path(__file__).parents[3] / "assignors/README.md").read_text(encoding="utf-8")
    source = next(b for b in text.split("```python\n") if b.startswith("class Alphabetical"))
    scope: dict[str, Any] = {}
    exec(source.split("```")[0], scope)
    assert check_assignor(GuardedAssignor(scope["Alphabetical"]()), 3, 100) == []


def test_small_groups_need_no_numpy() -> None:
    """A plan of one live group imports nothing heavy."""
    code = (
        "import sys; from kgroups.assignors.user.conformance import random_request;"
        "from kgroups.assignors.registry import CLIENT_ASSIGNORS, SERVER_ASSIGNORS;"
        "[s.assign(random_request(7)) for s in [*CLIENT_ASSIGNORS.values(), "
        "*SERVER_ASSIGNORS.values()]];"
        "print([m for m in ('numpy',) if m in sys.modules])"
    )
    done = run_program([sys.executable, "-c", code], check=True)
    assert done.stdout.strip() == "[]"
