"""A deploy as a file has it; keys are those of Kubernetes' manifests where it has them."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from kgroups.core.input_files.document import Cursor
from kgroups.core.simulation.kubernetes.deploy_event import KINDS, Amount, Change, Kind
from kgroups.core.simulation.scenario.member_readers import (
    check_protocol,
    read_processing,
    read_topics,
)
from kgroups.core.simulation.scenario.member_settings import (
    LIBRARY_DEFAULTS,
    PROTOCOLS,
    SETTINGS,
    Library,
    Protocol,
    read_values,
)
from kgroups.core.simulation.scenario.scenario_model import GroupPlan

CHANGE_KEYS: Final = (
    "protocol",
    "client",
    "static",
    "client_id",
    "rack",
    "topics",
    "pattern",
    "processing",
    "settings",
)
_DOTTED: Final = "change."
_PERCENT: Final = re.compile(r"(\d{1,9})%")
MAX_AMOUNT: Final = 20_000


def read_kind(cursor: Cursor) -> Kind:
    """Deployment or StatefulSet."""
    return cast(Kind, cursor.text(KINDS))


def read_amount(cursor: Cursor) -> Amount:
    """`2`, or `25%`."""
    if isinstance(cursor.value, str):
        match = _PERCENT.fullmatch(cursor.value.strip())
        if match is None or int(match[1]) > MAX_AMOUNT:
            cursor.fail(
                f"`{cursor.value}` is not an amount", hint="write a number, or a share: 2, 25%"
            )
        return Amount(int(match[1]), percent=True)
    return Amount(cursor.integer(0, MAX_AMOUNT))


def read_unavailable(cursor: Cursor) -> Amount:
    """The same, at most all."""
    found = read_amount(cursor)
    if found.percent and found.value > 100:
        cursor.fail(f"expected at most 100%, found {found}")
    return found


def read_entry(cursor: Cursor, group: GroupPlan) -> str:
    """An entry of the group's members."""
    return cursor.text([one.entry or one.name for one in group.templates or group.members])


def read_change(cursor: Cursor, group: GroupPlan) -> Change:
    """What is new."""
    given = cursor.fields((), CHANGE_KEYS)

    def read_library(value: Cursor) -> Library:
        return cast(Library, value.text(tuple(LIBRARY_DEFAULTS)))

    def read_protocol(value: Cursor) -> Protocol:
        if group.protocol == "zookeeper":
            value.fail("a group of the ZooKeeper era cannot change its protocol member by member")
        return cast(Protocol, value.text([one for one in PROTOCOLS if one != "zookeeper"]))

    protocol = given.optional("protocol", read_protocol)

    def read_new(value: Cursor) -> tuple[tuple[str, Any], ...]:
        check_protocol(protocol or group.protocol, value)
        return tuple(read_values(value).items())

    record, poll = given.optional("processing", read_processing) or (None, None)
    return Change(
        protocol=protocol,
        library=given.optional("client", read_library),
        static=given.optional("static", Cursor.flag),
        client_id=given.optional("client_id", Cursor.text),
        rack=given.optional("rack", Cursor.text),
        topics=given.optional("topics", read_topics) or (),
        pattern=given.optional("pattern", Cursor.text),
        record=record,
        poll=poll,
        settings=given.optional("settings", read_new) or (),
    )


def nest_change(given: Mapping[str, object]) -> dict[str, object]:
    """Keys of the command line as a file has them: `change.static`, `change.session.timeout.ms`."""
    found: dict[str, object] = {}
    change: dict[str, object] = {}
    settings: dict[str, object] = {}
    for key, value in given.items():
        name = key.removeprefix(_DOTTED)
        if name == key:
            found[key] = value
        elif name in SETTINGS:
            settings[name] = value
        elif name == "topics":
            change[name] = str(value).split("+")
        else:
            change[name] = value
    if settings:
        change["settings"] = settings
    return {**found, "change": change} if change else found
