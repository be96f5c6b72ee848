"""Scenarios of Kafka's own test of resets, as data."""

from functools import partial
from typing import Final

from tests.support.official.official_world import LONG_TOPIC
from tests.support.official.scenario import BOTH, Scenario

_resetting = partial(Scenario, "ResetConsumerGroupOffsetTest")


def _reset() -> list[Scenario]:
    nothing_since = (
        "Warn: Partition 1 from topic reset-a is empty. Falling back to latest known offset."
    )
    targets = (
        ("yesterday", "--to-datetime 2020-01-01T00:00:00.000", 0, ""),
        ("zone", "--to-datetime 2020-01-01T00:00:00.000Z", 0, ""),
        ("PT1H", "--by-duration PT1H", 0, ""),
        ("PT0.1S", "--by-duration PT0.1S", 100, nothing_since),
        ("earliest", "--to-earliest", 0, ""),
        ("latest", "--to-latest", 100, ""),
        ("current", "--to-current", 60, ""),
        ("offset", "--to-offset 1", 1, ""),
        ("shift +", "--shift-by 30", 90, ""),
        ("shift -", "--shift-by -30", 30, ""),
        ("shift far back", "--shift-by -150", 0, "is lower than earliest offset"),
        ("shift far ahead", "--shift-by 150", 100, "is higher than latest offset"),
    )
    before = {"conf-a": {("reset-a", 1): 60, ("reset-a", 2): 5}}
    found = [
        _resetting(
            what,
            f"--reset-offsets --execute --group conf-a --topic reset-a:1 {options}",
            (f"conf-a reset-a 1 {offset}",),
            1,
            err,
            before=before,
            after={"conf-a": {("reset-a", 1): offset, ("reset-a", 2): 5}},
        )
        for what, options, offset, err in targets
    ]
    found.append(
        _resetting(
            "no records",
            "--reset-offsets --execute --group conf-a --topic no-records --by-duration PT1M",
            ("conf-a no-records 0 0",),
            1,
            "Warn: Partition 0 from topic no-records is empty.",
            before=before,
            after={"conf-a": {**before["conf-a"], ("no-records", 0): 0}},
        )
    )
    found += [
        _resetting(
            f"{mode or 'no mode'}, new group",
            f"--reset-offsets --group conf-new --topic reset-b:0 --to-offset 50 {mode}",
            ("conf-new reset-b 0 50",),
            1,
            "" if mode else "WARN: No action will be performed",
            before={"conf-new": {}},
            after={"conf-new": {("reset-b", 0): 50}} if mode == "--execute" else {},
        )
        for mode in ("", "--dry-run", "--execute")
    ]
    return found


def _reset_several() -> list[Scenario]:
    two = {"conf-a": {("reset-b", 0): 1}, "conf-b": {("reset-b", 0): 2, (LONG_TOPIC, 0): 1}}
    return [
        _resetting(
            "two groups, all topics",
            "--reset-offsets --group conf-a --group conf-b --all-topics --to-earliest --execute",
            ("conf-a reset-b 0 0", "conf-b reset-b 0 0", f"conf-b {LONG_TOPIC} 0 0"),
            3,
            before=two,
            after={
                "conf-a": {("reset-b", 0): 0},
                "conf-b": {("reset-b", 0): 0, (LONG_TOPIC, 0): 0},
            },
        ),
        _resetting(
            "one topic",
            "--reset-offsets --group conf-b --topic reset-b --to-earliest --execute",
            ("conf-b reset-b 0 0", "conf-b reset-b 1 0"),
            2,
            before=two,
            after={"conf-b": {("reset-b", 0): 0, ("reset-b", 1): 0, (LONG_TOPIC, 0): 1}},
        ),
        _resetting(
            "two whole topics",
            f"--reset-offsets --group conf-b --topic reset-b --topic {LONG_TOPIC} --to-latest "
            "--execute",
            ("conf-b reset-b 0 50", "conf-b reset-b 1 50", f"conf-b {LONG_TOPIC} 0 4"),
            3,
            before=two,
            after={"conf-b": {("reset-b", 0): 50, ("reset-b", 1): 50, (LONG_TOPIC, 0): 4}},
        ),
        _resetting(
            "one partition of each of two topics",
            "--reset-offsets --group conf-a --topic reset-a:1 --topic reset-b:1 --to-earliest "
            "--execute",
            ("conf-a reset-a 1 0", "conf-a reset-b 1 0"),
            2,
            before={"conf-a": {(topic, n): 9 for topic in ("reset-a", "reset-b") for n in (0, 1)}},
            after={"conf-a": {(t, n): 9 * (1 - n) for t in ("reset-a", "reset-b") for n in (0, 1)}},
        ),
        _resetting(
            "unknown group",
            "--reset-offsets --group missing.group --all-topics --to-current --execute",
            count=0,
        ),
        _resetting(
            "two topics",
            f"--reset-offsets --group conf-b --topic reset-b:0 --topic {LONG_TOPIC} --to-latest "
            "--execute",
            ("conf-b reset-b 0 50", f"conf-b {LONG_TOPIC} 0 4"),
            2,
            before=two,
            after={"conf-b": {("reset-b", 0): 50, (LONG_TOPIC, 0): 4}},
        ),
        _resetting(
            "partitions that do not exist",
            "--reset-offsets --group conf-a --topic reset-b:2,3 --to-latest --execute",
            count=0,
            err='The partitions "reset-b-2,reset-b-3" do not exist',
            status=1,
            before=two,
            after={"conf-a": two["conf-a"]},
        ),
        _resetting(
            "nothing is written when one plan cannot be made",
            "--reset-offsets --group conf-a --group conf-b --topic reset-b:0 --topic reset-b:1 "
            "--shift-by 1 --execute",
            count=0,
            err="Cannot shift offset for partition reset-b-1",
            status=1,
            before=two,
            after=two,
        ),
        _resetting(
            "unknown option",
            "--reset-offsets --new-consumer",
            err="new-consumer is not a recognized option",
            status=1,
        ),
        *(
            _resetting(
                f"{group} is alive",
                f"--reset-offsets --group {group} --all-topics --to-earliest --execute",
                count=0,
                err=f"Assignments can only be reset if the group '{group}' is inactive",
                status=1,
            )
            for group in BOTH
        ),
    ]


RESETS: Final = (*_reset(), *_reset_several())
