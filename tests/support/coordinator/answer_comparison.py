"""Answers of two coordinators laid side by side: lists that stand for sets are sorted first."""

import json
from collections.abc import Iterable
from typing import Any

from tests.support.coordinator.oracle_json import Json

COMPARED = ("response", "completed", "records", "states")
ASSIGNED = ("topicPartitions", "assignedPartitions", "partitionsPendingRevocation")
SETS = ("subscribedTopicNames", "topics", "groups", "members", "results", "partitions")
BYTES = ("k", "v")


def _key(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _with_sorted_partitions(topic: Json) -> Json:
    """Partitions ascending, with the epochs that stand beside them."""
    out = dict(topic)
    partitions, epochs = out.get("partitions", []), out.get("assignmentEpochs")
    if epochs is not None and len(epochs) == len(partitions):
        pairs = sorted(zip(partitions, epochs, strict=True))
        out["partitions"] = [partition for partition, _ in pairs]
        out["assignmentEpochs"] = [epoch for _, epoch in pairs]
    elif all(isinstance(one, int) for one in partitions):
        out["partitions"] = sorted(partitions)
    return out


def _canonical(value: Any, at: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _canonical(one, name) for name, one in value.items()}
    if not isinstance(value, list):
        return value
    if at in ASSIGNED:
        return sorted((_with_sorted_partitions(one) for one in value), key=_key)
    items = [_canonical(one, at) for one in value]
    if at in SETS:
        return sorted(items, key=_key)
    if at == "records":  # records of one key keep their order
        return sorted(items, key=lambda record: (record["type"], _key(record["key"])))
    if at == "completed":
        return sorted(items, key=lambda done: str(done["id"]))
    return items


def _records_without_bytes(answer: Json) -> None:
    """Bytes of a record that holds a set differ with its order; its fields are compared."""
    for record in answer.get("records", ()):
        if record["type"] not in (1, 2):
            for name in BYTES:
                record.pop(name, None)


def _kept(answer: Json) -> Json:
    """What is compared."""
    return {name: answer[name] for name in COMPARED if answer.get(name) not in (None, [], {})}


def comparable(answer: Json) -> Json:
    """What of an answer must be equal, in a form that can be compared with ==."""
    out: Json = _canonical(json.loads(json.dumps(_kept(answer))))
    _records_without_bytes(out)
    return out


def side_by_side(want: Json, got: Json) -> tuple[Json, Json]:
    """Two answers as == may compare them; cheap where they are equal to the order of sets."""
    if _kept(want) == _kept(got):
        return want, want
    return comparable(want), comparable(got)


def differences(want: Any, got: Any, at: str = "") -> Iterable[str]:
    """Every place where two comparable answers differ, a line each."""
    if isinstance(want, dict) and isinstance(got, dict):
        for name in dict.fromkeys([*want, *got]):
            if name not in got:
                yield f"{at}.{name}: missing, want {want[name]!r}"
            elif name not in want:
                yield f"{at}.{name}: not wanted: {got[name]!r}"
            else:
                yield from differences(want[name], got[name], f"{at}.{name}")
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for index, (left, right) in enumerate(zip(want, got, strict=True)):
            yield from differences(left, right, f"{at}[{index}]")
    elif want != got:
        yield f"{at}: want {want!r}, got {got!r}"
