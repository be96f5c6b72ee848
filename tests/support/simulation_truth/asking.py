"""What a program is asked for that is to make one member of a row's group."""

from tests.support.fidelity.hosts.pool import java_settings
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
    asked: dict[str, object] = {
        "servers": servers,
        "group": group,
        "client": name,
        "instance": name if kind.static else "",
        "strategy": row.strategy,
        "protocol": "consumer" if kind.protocol == "consumer" else "classic",
    }
    more: dict[str, object] = {"name": f"{group}/{name}", "watch": watch, **reads}
    if row.library == "java":
        return {**more, "config": java_settings(asked, row.settings)}
    return {"topics": [], "pattern": "", **asked, **more}
