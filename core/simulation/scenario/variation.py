"""One scenario in variations: `session.timeout.ms=6000,45000` beside `protocol=eager,consumer`."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final, cast

from kgroups.core.coordinator.config import PROPERTIES, CoordinatorConfig
from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Cursor, Document
from kgroups.core.simulation.applications.commit_plan import CommitPlan
from kgroups.core.simulation.scenario.contradictions import COOPERATIVE, STRATEGY
from kgroups.core.simulation.scenario.member_readers import read_commit, read_spread
from kgroups.core.simulation.scenario.member_settings import (
    LIBRARY_DEFAULTS,
    PROTOCOLS,
    SETTINGS,
    Library,
    Protocol,
    read_setting,
)
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan, Network, Scenario
from kgroups.core.simulation.scenario.units import read_ms
from kgroups.core.simulation.scenario.varied_parts import PARTS, part_of

Change = Callable[[Scenario, str], Scenario]
Variation = Mapping[str, str]
MAX_COMBINATIONS: Final = 10_000


def parse_vary(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Name to values, of texts as `name=a,b`.

    Raises:
        UsageError: not of that form, a name that is not known, or one given twice.
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        listed = tuple(value.strip() for value in values.split(",") if value.strip())
        if not equals or not listed:
            raise UsageError(f"`--vary {text}` is not NAME=VALUE[,VALUE]...")
        check_name(name)
        if name in found:
            raise UsageError(f"`--vary {name}` is given twice")
        found[name] = listed
    return found


def check_name(name: str) -> None:
    """Nothing, if something of this name can vary.

    Raises:
        UsageError: nothing can.
    """
    if name not in CHANGES and part_of(name) is None:
        known = ", ".join([*sorted([*CHANGES, *PARTS]), "EVENT.KEY"])
        raise UsageError(f"`{name}` cannot be varied", hint=f"known: {known}")


def combinations(vary: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Every combination, the last name changing fastest; one empty one if nothing varies.

    Raises:
        UsageError: there are too many.
    """
    total = 1
    for values in vary.values():
        total *= len(values)
    if total > MAX_COMBINATIONS:
        raise UsageError(f"{total} combinations are too many", hint=f"at most {MAX_COMBINATIONS}")
    return [dict(zip(vary, values, strict=True)) for values in product(*vary.values())]


def varied(scenario: Scenario, variation: Variation) -> Scenario:
    """The scenario with these values.

    Raises:
        UsageError: a value is not of its kind.
    """
    for name, value in variation.items():
        change = CHANGES.get(name) or _part(name)
        scenario = change(scenario, value)
    return scenario


def _part(name: str) -> Change:
    part = part_of(name)
    assert part is not None, "parse_vary has seen to that"
    return lambda scenario, value: part(scenario, _cursor(name, value))


def _cursor(name: str, value: str) -> Cursor:
    """A value of the command line as one of a file, for the same readers and complaints."""
    plain: object = {"true": True, "false": False}.get(value, value)
    if isinstance(plain, str) and plain.isdigit():
        plain = int(plain)
    return Document("--vary", f"{name}: {value}", "yaml", {name: plain}).root.child(name, plain)


def _members(
    scenario: Scenario,
    change: Callable[[MemberPlan], MemberPlan],
    of: Collection[str] | None = None,
) -> Scenario:
    """The scenario with its members changed, those of some groups or of all."""
    groups = (
        replace(
            group,
            members=tuple(change(plan) for plan in group.members),
            templates=tuple(change(plan) for plan in group.templates),
        )
        if of is None or group.name in of
        else group
        for group in scenario.groups
    )
    return replace(scenario, groups=tuple(groups))


def _setting(name: str) -> Change:
    def change(scenario: Scenario, value: str) -> Scenario:
        found = read_setting(name, _cursor(name, value))
        return _members(
            scenario, lambda plan: replace(plan, settings=replace(plan.settings, **found))
        )

    return change


def _property(name: str) -> Change:
    field, _ = PROPERTIES[name]

    def change(scenario: Scenario, value: str) -> Scenario:
        text = str(read_ms(_cursor(name, value))) if name.endswith(".ms") else value
        try:
            parsed = CoordinatorConfig.from_properties({name: text})
        except ValueError as error:
            raise UsageError(f"`--vary {name}={value}`: {error}") from error
        found: Any = {field: getattr(parsed, field)}
        return replace(scenario, cluster=replace(scenario.cluster, **found))

    return change


def _protocol(scenario: Scenario, value: str) -> Scenario:
    protocol = cast(Protocol, _cursor("protocol", value).text(PROTOCOLS))

    other = {group.name for group in scenario.groups if group.protocol != protocol}
    groups = (replace(group, protocol=protocol) for group in scenario.groups)

    def change(plan: MemberPlan) -> MemberPlan:
        # An assignor that the members of another protocol do not have is left to its default.
        return replace(plan, settings=replace(plan.settings, assignors=()))

    return _members(replace(scenario, groups=tuple(groups)), change, other)


def _strategy(scenario: Scenario, value: str) -> Scenario:
    """Other assignors: a classic group is cooperative where all of them are."""
    scenario = _setting(STRATEGY)(scenario, value)

    def change(group: GroupPlan) -> GroupPlan:
        if group.protocol not in ("eager", "cooperative"):
            return group
        named = {name for plan in group.members for name in plan.settings.assignors}
        return replace(group, protocol="cooperative" if named == {COOPERATIVE} else "eager")

    return replace(scenario, groups=tuple(change(group) for group in scenario.groups))


def _client(scenario: Scenario, value: str) -> Scenario:
    library = cast(Library, _cursor("client", value).text(tuple(LIBRARY_DEFAULTS)))

    def change(plan: MemberPlan) -> MemberPlan:
        before, after = LIBRARY_DEFAULTS[plan.library], LIBRARY_DEFAULTS[library]
        settings = plan.settings.on_other_defaults(before, after)
        return replace(plan, library=library, settings=settings)

    return _members(scenario, change)


def _static(scenario: Scenario, value: str) -> Scenario:
    static = _cursor("static", value).flag()
    return _members(scenario, lambda plan: replace(plan, instance_id=plan.name if static else None))


def _latency(scenario: Scenario, value: str) -> Scenario:
    latency = read_spread(_cursor("latency", value))
    return replace(scenario, network=Network(latency, scenario.network.loss))


def _processing(scenario: Scenario, value: str) -> Scenario:
    record = read_spread(_cursor("processing", value))
    return _members(scenario, lambda plan: replace(plan, record=record))


def _commit(scenario: Scenario, value: str) -> Scenario:
    mode = read_commit(_cursor("commit", value)).mode

    def change(plan: MemberPlan) -> MemberPlan:
        before = plan.commit or CommitPlan(mode)
        return replace(
            plan, commit=CommitPlan(mode) if mode == "none" else replace(before, mode=mode)
        )

    return _members(scenario, change)


CHANGES: Final[Mapping[str, Change]] = {
    **{name: _setting(name) for name in SETTINGS},
    **{name: _property(name) for name in PROPERTIES},
    STRATEGY: _strategy,
    "protocol": _protocol,
    "client": _client,
    "static": _static,
    "latency": _latency,
    "processing": _processing,
    "commit": _commit,
}
