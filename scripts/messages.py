#!/usr/bin/env python3
"""Writes core/protocol/tables from the message definitions in Kafka's jars.

`python -m scripts.messages` fetches the jars if need be. Names, types, versions and defaults are
taken over, in the form that `core/protocol/README.md` describes; texts are not.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self
from zipfile import ZipFile

from tests.support.kafka.jars import MESSAGES, kafka_jars

TABLES = Path(__file__).parents[1] / "core" / "protocol" / "tables"
APIS = (
    "Produce",
    "Fetch",
    "ListOffsets",
    "Metadata",
    "OffsetCommit",
    "OffsetFetch",
    "FindCoordinator",
    "JoinGroup",
    "Heartbeat",
    "LeaveGroup",
    "SyncGroup",
    "DescribeGroups",
    "ListGroups",
    "SaslHandshake",
    "ApiVersions",
    "CreateTopics",
    "DeleteTopics",
    "DeleteRecords",
    "InitProducerId",
    "OffsetForLeaderEpoch",
    "WriteTxnMarkers",
    "DescribeConfigs",
    "SaslAuthenticate",
    "CreatePartitions",
    "DeleteGroups",
    "IncrementalAlterConfigs",
    "OffsetDelete",
    "DescribeClientQuotas",
    "DescribeQuorum",
    "DescribeCluster",
    "DescribeProducers",
    "DescribeTransactions",
    "ListTransactions",
    "ConsumerGroupHeartbeat",
    "ConsumerGroupDescribe",
    "ListConfigResources",
    "DescribeTopicPartitions",
    "ShareGroupDescribe",
    "StreamsGroupDescribe",
    "DescribeShareGroupOffsets",
    "AlterShareGroupOffsets",
    "DeleteShareGroupOffsets",
)
"""What kgroups speaks, by key."""

RECORDS = (
    "OffsetCommit",
    "GroupMetadata",
    "ConsumerGroupMetadata",
    "ConsumerGroupPartitionMetadata",
    "ConsumerGroupMemberMetadata",
    "ConsumerGroupTargetAssignmentMetadata",
    "ConsumerGroupTargetAssignmentMember",
    "ConsumerGroupCurrentMemberAssignment",
    "ConsumerGroupRegularExpression",
)
"""Kinds of records of `__consumer_offsets` that are about classic and consumer groups."""

SHARE_RECORDS = ("ShareSnapshot", "ShareUpdate")
"""Those of `__share_group_state`."""

Definition = Mapping[str, Any]


class Versions(NamedTuple):
    """Versions from the first to the last."""

    first: int
    last: int

    @classmethod
    def of(cls, text: str, within: "Versions") -> Self | None:
        """What Kafka's `2+`, `0-3` or `none` means within others; None for none of them."""
        if text == "none":
            return None
        first, plus, last = re.fullmatch(r"(\d+)(\+)?(?:-(\d+))?", text).groups()  # type: ignore[union-attr]
        end = within.last if plus else int(last or first)
        first, end = max(int(first), within.first), min(end, within.last)
        return cls(first, end) if first <= end else None

    def text(self, within: "Versions") -> str:
        """These versions as a table has them."""
        if self.last == within.last and self.first < self.last:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def snake_case(name: str) -> str:
    """`TopicId` as `topic_id`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def table(definition: Definition) -> str:
    """The table of a message: a line for it and one for each field."""
    first, last = re.fullmatch(r"(\d+)(?:-(\d+))?", definition["validVersions"]).groups()  # type: ignore[union-attr]
    versions = Versions(int(first), int(last or first))
    flexible = Versions.of(definition["flexibleVersions"], versions)
    head = f"{definition['name']} {first}-{versions.last}"
    if flexible is not None:
        head += f" flexible {flexible.first}+"
    shared = {struct["name"]: struct["fields"] for struct in definition.get("commonStructs", ())}
    return "\n".join((head, *_fields(definition["fields"], versions, versions, shared, 1)))


def _fields(
    fields: list[Definition],
    message: Versions,
    within: Versions,
    shared: Mapping[str, list[Definition]],
    depth: int,
) -> Iterator[str]:
    for field in fields:
        versions = Versions.of(field.get("versions") or field["taggedVersions"], within)
        if versions is None:
            continue
        kind, array = field["type"].removeprefix("[]"), field["type"].startswith("[]")
        inner = field.get("fields") or shared.get(kind)
        words = [
            snake_case(field["name"]),
            ("[]" if array else "") + ("struct" if inner else kind) + _mark(field, versions),
        ]
        if versions != within:
            words.append(versions.text(message))
        words += _extras(field, message, versions)
        yield "    " * depth + " ".join(words)
        if inner:
            yield from _fields(inner, message, versions, shared, depth + 1)


def _mark(field: Definition, versions: Versions) -> str:
    nullable = Versions.of(field.get("nullableVersions", "none"), versions)
    return "?" if nullable == versions else ""


def _extras(field: Definition, message: Versions, versions: Versions) -> Iterator[str]:
    nullable = Versions.of(field.get("nullableVersions", "none"), versions)
    if nullable is not None and nullable != versions:
        yield f"null {nullable.text(message)}"
    if "tag" in field:
        assert Versions.of(field["taggedVersions"], versions) == versions, field
        yield f"tag {field['tag']}"
    default = field.get("default")
    if default is not None:  # Kafka's generator takes a bare null for no default
        yield f"default {json.dumps(default) if default in ('', True, False) else default}"


def definitions(jars: Path) -> dict[str, Definition]:
    """Kafka's definitions in a folder of jars, by message name."""
    found = {}
    for path in sorted(jars.glob("*.jar")):
        with ZipFile(path) as jar:
            for name in jar.namelist():
                if re.fullmatch(r"common/message/\w+\.json", name):
                    text = re.sub(r"(?m)^\s*//.*$", "", jar.read(name).decode())
                    definition = json.loads(text)
                    found[definition["name"]] = definition
    return found


def files() -> dict[str, str]:
    """File name to text of everything in `core/protocol/tables` that is generated."""
    known = definitions(kafka_jars(MESSAGES))
    texts = {"__init__.py": '"""Kafka\'s messages, generated by `make messages`: do not edit."""\n'}
    keys = []
    for api in APIS:
        request, response = known[f"{api}Request"], known[f"{api}Response"]
        name = snake_case(api)
        keys.append(f"    {name.upper()} = {request['apiKey']}")
        texts[f"{name}.txt"] = f"{table(request)}\n\n{table(response)}\n"
    texts["api_keys.py"] = "\n".join(
        (
            '"""The keys of the APIs that kgroups speaks."""\n',
            "from enum import IntEnum\n\n",
            "class Api(IntEnum):",
            '    """Keys by Kafka\'s names."""\n',
            *keys,
            "\n    @property",
            "    def kafka_name(self) -> str:",
            '        """The name as Kafka writes it: `JoinGroup`."""',
            '        return "".join(word.capitalize() for word in self.name.split("_"))',
            "",
        )
    )
    for name, kinds in (("group_records", RECORDS), ("share_records", SHARE_RECORDS)):
        records = (table(known[f"{kind}{half}"]) for kind in kinds for half in ("Key", "Value"))
        texts[f"{name}.txt"] = "\n\n".join(records) + "\n"
    return texts


def main() -> None:
    """Write them anew."""
    for old in (*TABLES.glob("*.py"), *TABLES.glob("*.txt")):
        old.unlink()
    for name, text in files().items():
        (TABLES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
