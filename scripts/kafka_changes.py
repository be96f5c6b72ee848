#!/usr/bin/env python3
"""Says what a new release of Kafka changed: messages, errors, broker and group settings.

`python -m scripts.kafka_changes 4.3.1 4.4.0` fetches both releases if need be and prints lines as
`diff` does. What the coordinator and the assignors do otherwise, tests tell: CONTRIBUTING.md, "A
new Kafka is out".
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path

from scripts.messages import definitions, table
from tests.support.kafka.child import run_program
from tests.support.kafka.jars import kafka_jars, version_jars

FACTS = Path(__file__).parent / "java" / "KafkaFacts.java"


def message_tables(jars: Path) -> dict[str, list[str]]:
    """The tables of all messages that brokers, clients and the log have, by name."""
    return {
        name: table(definition).split("\n")
        for name, definition in sorted(definitions(jars).items())
        if definition["validVersions"] != "none"
    }


def facts(jars: Path) -> list[str]:
    """Errors and settings, a line each."""
    quick = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    command = ["java", *quick, "-cp", f"{jars}{os.sep}*", str(FACTS)]
    return run_program(command, check=True).stdout.splitlines()


def message_changes(old: Path, new: Path) -> Iterator[str]:
    """What differs in the messages, line by line, each message under its name.

    Args:
        old, new: folders of jars.
    """
    before, after = message_tables(old), message_tables(new)
    for name in sorted(before.keys() | after.keys()):
        yield from _changed(name, before.get(name, []), after.get(name, []), around=1)


def _changed(
    title: str, before: Sequence[str], after: Sequence[str], around: int = 0
) -> Iterator[str]:
    lines = list(unified_diff(before, after, n=around, lineterm=""))[2:]
    if lines:
        yield from ("", title, *(line for line in lines if not line.startswith("@@")))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", help="the release that the project knows: 4.3.1")
    parser.add_argument("new", help="the one that is out: 4.4.0")
    chosen = parser.parse_args(arguments)
    old, new = (kafka_jars(version_jars(one)) for one in (chosen.old, chosen.new))
    found = _changed("errors and settings", facts(old), facts(new))
    sys.stdout.writelines(f"{line}\n" for line in (*message_changes(old, new), *found))


if __name__ == "__main__":
    main()
