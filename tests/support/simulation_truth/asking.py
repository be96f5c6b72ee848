"""What a program is asked for that is to make one member of a row's group."""

from tests.support.fidelity.hosts.pool import JAVA_ASSIGNORS
from tests.support.simulation_truth.rows import Row, share


def topic_of(group: str) -> str:
    """The topic that it reads."""
    return f"{group}-t"


def asked_of(row: Row, name: str, *, servers: str, group: str, store: str) -> dict[str, object]:
    """Of one member, in the words of its library's program.

    Args:
        store: folder for offsets that are kept outside Kafka, where the row's group does so.
    """
    kind, topic = row.kind, topic_of(group)
    outside = kind.commit == "outside"
    watch = {
        "settings": dict(row.settings),
        "record_ms": kind.record_ms,
        "room": kind.room or None,
        "listener_ms": kind.listener,
        "commits": row.settings.get("enable.auto.commit") is False and not outside,
        "sync": kind.commit == "sync",
        "store": store if outside else "",
    }
    reads: dict[str, object] = {"topics": [topic]}
    if kind.pattern:
        reads = {"pattern": f"^{topic}.*"}
    if kind.assigned:
        reads = {"assigned": [[topic, number] for number in share(name)]}
    asked: dict[str, object] = {"name": f"{group}/{name}", "watch": watch, **reads}
    if row.library == "java":
        return {**asked, "config": _java_config(row, name, servers, group)}
    return {
        "topics": [],
        "pattern": "",
        **asked,
        "servers": servers,
        "group": group,
        "client": name,
        "instance": name if kind.static else "",
        "strategy": row.strategy,
        "protocol": _protocol(row),
    }


def _protocol(row: Row) -> str:
    return "consumer" if row.kind.protocol == "consumer" else "classic"


def _java_config(row: Row, name: str, servers: str, group: str) -> dict[str, str]:
    config = {
        "bootstrap.servers": servers,
        "group.id": group,
        "client.id": name,
        "group.protocol": _protocol(row),
        "auto.offset.reset": "earliest",
        **{key: str(value).lower() for key, value in row.settings.items()},
    }
    if row.kind.protocol == "consumer":
        config["group.remote.assignor"] = row.strategy
    else:
        assignor = JAVA_ASSIGNORS[row.strategy]
        config["partition.assignment.strategy"] = f"org.apache.kafka.clients.consumer.{assignor}"
    if row.kind.static:
        config["group.instance.id"] = name
    return config
