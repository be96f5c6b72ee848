"""Members of a scenario's file: what each entry stands for, with the properties it is given."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from kgroups.core.input_files.document import (
    Cursor,
    Document,
    Fields,
    Readers,
    choice_of,
    integer_of,
    read_document,
)
from kgroups.core.simulation.clients.libraries import classic_mode
from kgroups.core.simulation.scenario.event_file import MAX_MEMBERS
from kgroups.core.simulation.scenario.member_readers import (
    check_protocol,
    read_assign,
    read_commit,
    read_listener,
    read_processing,
    read_topics,
)
from kgroups.core.simulation.scenario.member_settings import (
    LIBRARY_DEFAULTS,
    PROTOCOL_WORDS,
    PROTOCOLS,
    Given,
    Library,
    Protocol,
    read_properties,
    read_settings,
)
from kgroups.core.simulation.scenario.scenario_model import (
    DEFAULT_SETTINGS,
    NO_TIME,
    RECORD_TIME,
    GroupPlan,
    MemberPlan,
    Scenario,
)
from kgroups.core.simulation.scenario.units import read_ms

MAX_WORKERS: Final = 10_000

MEMBER_READERS: Final[Readers] = {
    "count": ("count", integer_of(0, MAX_MEMBERS)),
    "client": ("library", choice_of(LIBRARY_DEFAULTS)),
    "client_id": ("client_id", Cursor.text),
    "topics": ("topics", read_topics),
    "pattern": ("pattern", Cursor.text),
    "assign": ("assign", read_assign),
    "static": ("static", Cursor.flag),
    "instance_id": ("instance_id", Cursor.text),
    "rack": ("rack", Cursor.text),
    "start": ("start_ms", read_ms),
    "every": ("gap_ms", read_ms),
    "processing": ("processing", read_processing),
    "workers": ("workers", integer_of(1, MAX_WORKERS)),
    "polls_on": ("polls_on", Cursor.flag),
    "skip_older_than": ("skip_older_ms", read_ms),
    "listener": ("listener", read_listener),
    "commit": ("commit", read_commit),
}
MEMBER_KEYS: Final = (*MEMBER_READERS, "properties", "settings")


def read_members(
    label: str, cursor: Cursor, group: Fields, name: str, protocol: Protocol
) -> tuple[MemberPlan, list[MemberPlan]]:
    """The members that one entry stands for: `label`, or `label-1`, ...

    Args:
        group: the fields of the entry's group, called `name`.

    Raises:
        UsageError: something in it is wrong; names file and line.
    """
    fields = cursor.fields((), MEMBER_KEYS)
    if {"topics", "pattern", "assign"}.isdisjoint(fields.values):
        hint = "accepted keys: " + ", ".join(f"`{key}`" for key in MEMBER_KEYS)
        cursor.fail("no subscription: `topics`, `pattern` or `assign` is missing", hint=hint)
    own = fields.given(MEMBER_READERS)
    count, instance = own.pop("count", None), own.pop("instance_id", None)
    static = own.pop("static", False)
    record, poll = own.pop("processing", (RECORD_TIME, NO_TIME))
    library = own.setdefault("library", "java")
    given = _given(group, fields, name, protocol, library)
    identity = given.identity
    if instance is None and not static:
        instance = identity.get("group.instance.id") or None
    if instance is not None and count is not None and count > 1:
        here = fields["instance_id"] if "instance_id" in fields.values else cursor
        here.fail("several members cannot share one `instance_id`", hint="write `static: true`")
    plan = MemberPlan(
        name=label,
        instance_id=instance,
        client_id=own.pop("client_id", "") or identity.get("client.id") or label,
        rack=own.pop("rack", "") or identity.get("client.rack") or None,
        record=record,
        poll=poll,
        settings=given.settings,
        entry=label,
        idle=given.idle,
        commit=own.pop("commit", None) or group.optional("commit", read_commit),
        **own,
    )
    template = plan if instance is not None or not static else replace(plan, instance_id=label)
    if count is None:
        return template, [template]
    members = [template.numbered(number) for number in range(1, count + 1)]
    if instance is not None:
        members = [replace(member, instance_id=instance) for member in members]
    return template, members


def protocol_of(group: Fields) -> Protocol:
    """A group's protocol; where it is not written, what its members' properties or clients say."""
    written = group.optional("protocol", choice_of(PROTOCOL_WORDS))
    protocol = next((protocol for protocol in PROTOCOLS if protocol == written), None)
    if protocol is not None:
        return protocol
    if written is None and _says_consumer(group):
        return "consumer"
    clients = {
        entry.value.get("client", "java")
        for _, entry in group["members"].entries()
        if isinstance(entry.value, dict)
    }
    return classic_mode(clients)


def _says_consumer(group: Fields) -> bool:
    """Whether the properties of its members say KIP-848."""
    places = [group.cursor, *(entry for _, entry in group["members"].entries())]
    for place in places:
        value = place.value if isinstance(place.value, dict) else {}
        if isinstance(value.get("properties"), str):
            given = dict(_file_of(place.child("properties", value["properties"])).entries())
            said = given.get("group.protocol")
            if said is not None and said.text().lower() == "consumer":
                return True
        settings = value.get("settings")
        if isinstance(settings, dict) and settings.get("group.protocol") == "consumer":
            return True
    return False


def with_properties(scenario: Scenario, document: Document) -> Scenario:
    """The scenario with a client's `.properties` file for every member of every group.

    Raises:
        UsageError: something in the file cannot be; names file and line.
    """
    one_id = "group.instance.id" in dict(document.root.entries())
    if one_id and any(len(group.members) > 1 for group in scenario.groups):
        what = "several members cannot share one `group.instance.id`"
        document.root.child("group.instance.id", None).fail(what, hint="leave it out", key=True)

    def change(group: GroupPlan, plan: MemberPlan) -> MemberPlan:
        given = Given(plan.settings, {}, plan.idle)
        given = _from_file(document.root, given, group.name, group.protocol, plan.library)
        return replace(
            plan,
            settings=given.settings,
            idle=given.idle,
            client_id=given.identity.get("client.id") or plan.client_id,
            rack=given.identity.get("client.rack") or plan.rack,
            instance_id=given.identity.get("group.instance.id") or plan.instance_id,
        )

    said = f"settings that `{document.name}` does not name are the client library's defaults"
    assumed = tuple(said if line == DEFAULT_SETTINGS else line for line in scenario.assumed)
    return replace(scenario.with_members(change), assumed=assumed)


def _given(group: Fields, member: Fields, name: str, protocol: Protocol, library: Library) -> Given:
    """Properties of a member: the library's, its group's, its own; a file's before settings."""
    given = Given(LIBRARY_DEFAULTS[library])
    for place in (group, member):
        if place.values.get("properties") is not None:
            root = _file_of(place["properties"])
            given = _from_file(root, given, name, protocol, library)
        if place.values.get("settings") is not None:
            settings = place["settings"]
            given = read_settings(settings, given, library)
            _check_group(settings, name, protocol)
    return given


def _from_file(
    root: Cursor, given: Given, name: str, protocol: Protocol, library: Library
) -> Given:
    given = read_properties(root, given, library)
    _check_group(root, name, protocol)
    return given


def _file_of(cursor: Cursor) -> Cursor:
    """A properties file that a scenario names, from the folder in which the scenario is."""
    path = Path(cursor.document.name).parent / cursor.text()
    return read_document(path, "properties").root


def _check_group(properties: Cursor, name: str, protocol: Protocol) -> None:
    """A member that is given properties of another protocol, or another group, does not join."""
    check_protocol(protocol, properties)
    for key, cursor in properties.entries():
        if key == "group.id" and cursor.value != name:
            what = f"the member's group is `{cursor.text()[:60]}`, not `{name}`"
            cursor.fail(what, hint="leave `group.id` out, or call the group so in the scenario")
        if key == "group.protocol":
            said = cursor.text().lower()
            if said != ("consumer" if protocol == "consumer" else "classic"):
                what = f"the protocol is `{said[:60]}`, the group is {protocol}"
                cursor.fail(what, hint="write `protocol` of the group accordingly")
