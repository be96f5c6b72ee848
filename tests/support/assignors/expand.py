"""Cases that stand for several: rack tables, the three rack settings, groups that are generated."""

import os
import random
from collections.abc import Iterator
from typing import Any

Json = Any

RACKS = "abcdef"
# Partitions up to which a generated group is made; the whole of Kafka's is 1,000,000.
LARGEST = int(os.environ.get("KGROUPS_CATALOGUE_PARTITIONS", "20000"))


def rack_rows(case: Json) -> Iterator[Json]:
    """One case for each row of a rack table.

    A row says how many replicas a partition has, the rack of each broker and of each member
    (`-`: none), what members own and get, and how many partitions are read from another rack.
    Replicas go round the brokers, from topic to topic.
    """
    rows = case.get("rows")
    if rows is None:
        yield case
        return
    for number, row in enumerate(rows):
        for owned in [(), row["gives"]] if case.get("again") else [row.get("owns", ())]:
            yield {
                "case": f"{case['case']}, row {number + 1}{', owned' if owned else ''}",
                "kafka": case["kafka"],
                "strategies": row.get("strategies", case["strategies"]),
                "topics": _placed(case["topics"], row["replicas"], row["brokers"]),
                "members": [
                    _reader(index, row.get("reads", case["reads"])[index], rack, owned)
                    for index, rack in enumerate(row["racks"])
                ],
                "gives": {f"consumer{index}": text for index, text in enumerate(row["gives"])},
                "order": "set",
                **({"mismatches": row["mismatches"]} if "mismatches" in row else {}),
            }


def _placed(topics: Json, replicas: int, brokers: str) -> Json:
    """Topics with the racks of each partition's replicas; a number where no broker has one."""
    if set(brokers) == {"-"}:
        return topics
    placed, first = {}, 0
    for topic, count in topics.items():
        placed[topic] = [
            "".join(
                brokers[(partition + replica + first) % len(brokers)] for replica in range(replicas)
            )
            for partition in range(count)
        ]
        first += count
    return placed


def _reader(index: int, reads: str, rack: str, owned: Any) -> str:
    words = [f"consumer{index}", reads]
    if rack != "-":
        words.append(f"rack={rack}")
    if owned and owned[index]:
        words.append("owns=" + owned[index].replace(" ", ";"))
    return " ".join(words)


def rack_settings(case: Json) -> Iterator[Json]:
    """The case as it is, with racks of brokers only, and with every replica and member in racks.

    Where every partition is in every rack, racks change nothing.
    """
    yield case
    steps = [case, *case.get("then", ())]
    said = any("rack=" in text for step in steps for text in step.get("members", ()))
    placed = any(not isinstance(n, int) for s in steps for n in s.get("topics", {}).values())
    if said or placed or "generate" in case:
        return
    for members, name in ((False, "racks of brokers"), (True, "racks of brokers and members")):
        first, *later = (_in_racks(step, members) for step in steps)
        yield {**first, "then": later, "case": f"{case['case']}, {name}"}


def _in_racks(step: Json, members: bool) -> Json:
    found = dict(step)
    if "topics" in step:
        found["topics"] = {topic: ["abc"] * count for topic, count in step["topics"].items()}
    if members and "members" in step:
        found["members"] = [
            text if text.endswith(" back") else f"{text} rack={RACKS[index % 3]}"
            for index, text in enumerate(step["members"])
        ]
    return found


def generated(case: Json) -> Json:
    """The case with the topics and members that `generate` describes."""
    how = case.get("generate")
    if how is None:
        return case
    topics, reads = SHAPES[how["shape"]](how)
    found = {"topics": topics, "members": [f"c{i:04} {','.join(r)}" for i, r in enumerate(reads)]}
    if how.get("racks"):
        found["topics"] = _placed(topics, 3, "abcabcabc")
        found["members"] = [f"{m} rack={RACKS[i % 3]}" for i, m in enumerate(found["members"])]
    then = []
    for step in case.get("then", ()):
        leave = set(step.get("leave", ()))
        stay = [f"c{i:04} back" for i in range(len(reads)) if i not in leave]
        new = [f"c{len(reads) + i:04} {','.join(reads[0])}" for i in range(step.get("join", 0))]
        then.append({**step, "members": [*stay, *new]})
    return {**case, **found, "then": then}


def _names(topics: int, partitions: int) -> list[str]:
    """As many topics as the limit allows."""
    return [f"t{index:03}" for index in range(max(min(topics, LARGEST // partitions), 2))]


def _grid(how: Json) -> tuple[Json, list[list[str]]]:
    """Topics of one size; members that read all, or what `reads` says."""
    names = _names(how["topics"], how["partitions"])
    half = len(names) // 2
    reads = [names] * how["members"]
    if how.get("reads") == "the last only one topic":
        reads = [*reads[1:], names[:1]]
    if how.get("reads") == "a quarter the first half":
        reads = [names[half:] if i % 4 else names[:half] for i in range(how["members"])]
    return dict.fromkeys(names, how["partitions"]), reads


def _nested(how: Json) -> tuple[Json, list[list[str]]]:
    """Topic i has i partitions; member i reads the first i topics."""
    names = [f"t{index:02}" for index in range(1, how["topics"] + 1)]
    return (
        {name: index for index, name in enumerate(names, 1)},
        [names[:index] for index in range(1, len(names) + 1)],
    )


def _numbered(how: Json) -> tuple[Json, list[list[str]]]:
    """Topic i has i partitions; everybody reads everything."""
    topics, reads = _nested(how)
    return topics, [reads[-1]] * how["members"]


def _mixed(how: Json) -> tuple[Json, list[list[str]]]:
    """Topics of random sizes; members that read random ones, some none."""
    dice = random.Random(how["seed"])
    names = [f"t{index:02}" for index in range(how["topics"])]
    topics = {name: dice.randint(1, how["partitions"]) for name in names}
    reads = [
        sorted(dice.sample(names, dice.randint(how.get("least", 0), how["most"])))
        for _ in range(how["members"])
    ]
    return topics, reads


SHAPES = {"grid": _grid, "nested": _nested, "numbered": _numbered, "mixed": _mixed}
