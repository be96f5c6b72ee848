"""Figures of groups for Prometheus, made from the items of JSON documents.

Names and labels are those of kafka-lag-exporter (`kafka_consumergroup_...`) and kminion
(`kafka_consumer_group_...`, which it shows with the prefix `kminion_`), so that dashboards fit;
what neither has is named alike.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from kgroups.cli.output.envelope import Report
from kgroups.cli.output.openmetrics import Sample, metrics_text
from kgroups.cli.output.table import Item

FAMILIES: Final = {
    "kafka_consumer_group_info": "State, type and protocol of a group; always 1.",
    "kafka_consumer_group_members": "Members of a group.",
    "kafka_consumergroup_group_offset": "Committed offset of a partition.",
    "kafka_consumergroup_group_lag": "Records of a partition still to be read.",
    "kafka_consumergroup_group_lag_seconds": "Age of a partition's oldest unread record.",
    "kafka_consumergroup_group_sum_lag": "Records of a group still to be read.",
    "kafka_consumergroup_group_max_lag": "Largest lag of a group's partitions.",
    "kafka_consumergroup_group_max_lag_seconds": "Age of a group's oldest unread record.",
    "kafka_consumergroup_group_topic_sum_lag": "Records of a topic still to be read by a group.",
    "kafka_consumergroup_group_partitions": (
        "Partitions of topics that a group reads or has committed."
    ),
    "kafka_consumergroup_group_unknown_partitions": "Partitions of a group whose lag is not known.",
    "kafka_consumergroup_group_unowned_partitions": (
        "Partitions of a group not assigned to any member."
    ),
    "kafka_consumergroup_group_beyond_end_partitions": (
        "Partitions of a group whose committed offset is beyond the log end."
    ),
    "kafka_consumergroup_group_held_partitions": (
        "Partitions of a group that an open transaction holds, not the consumer."
    ),
    "kafka_consumergroup_group_lost": "Records that expired before a group read them.",
    "kafka_consumergroup_group_rate_in": "Records written per second to what a group reads.",
    "kafka_consumergroup_group_rate_out": "Records read per second by a group.",
    "kafka_consumergroup_group_catch_up_seconds": "Time to catch up at these rates.",
    "kafka_consumergroup_group_stalled_partitions": (
        "Owned partitions of a group with lag whose commit stands still."
    ),
    "kafka_consumergroup_group_rebalances": "Rebalances of a group between two looks.",
    "kafka_partition_earliest_offset": "Offset of the log start of a partition.",
    "kafka_partition_latest_offset": "Offset of the log end of a partition.",
    "kgroups_check_verdict": "1 for the verdict of a group, 0 for the others.",
    "kgroups_check_condition": "1 if a condition holds for a group, 0 if it does not.",
    "kgroups_run_errors": "Items that failed in this run of kgroups.",
    "kgroups_run_timestamp_seconds": "When the figures were read.",
}
"""The meaning of each, in the order in which they are told."""
VERDICTS: Final = ("ok", "warning", "unknown", "failed")

_OF_GROUPS: Final[Mapping[str, str]] = {
    "member_count": "kafka_consumer_group_members",
    "lag": "kafka_consumergroup_group_sum_lag",
    "lag_max": "kafka_consumergroup_group_max_lag",
    "lag_seconds": "kafka_consumergroup_group_max_lag_seconds",
    "partitions": "kafka_consumergroup_group_partitions",
    "unknown_partitions": "kafka_consumergroup_group_unknown_partitions",
    "unowned_partitions": "kafka_consumergroup_group_unowned_partitions",
    "beyond_end_partitions": "kafka_consumergroup_group_beyond_end_partitions",
    "held_partitions": "kafka_consumergroup_group_held_partitions",
    "lost": "kafka_consumergroup_group_lost",
    "rate_in": "kafka_consumergroup_group_rate_in",
    "rate_out": "kafka_consumergroup_group_rate_out",
    "catch_up_seconds": "kafka_consumergroup_group_catch_up_seconds",
    "stalled_partitions": "kafka_consumergroup_group_stalled_partitions",
    "rebalances": "kafka_consumergroup_group_rebalances",
}
"""Figures of a whole group, as `check` and `lag report` call them."""
_OF_PARTITIONS: Final[Mapping[str, str]] = {
    "lag": "kafka_consumergroup_group_lag",
    "lag_seconds": "kafka_consumergroup_group_lag_seconds",
}
"""Figures of a partition, as `lag report --by partition` calls them."""
_LABELS: Final[Mapping[str, str]] = {
    "cluster": "cluster_name",
    "group": "group",
    "topic": "topic",
    "partition": "partition",
    "member_id": "consumer_id",
    "client_id": "client_id",
    "host": "member_host",
    "assignor": "assignor",
}
"""Labels by the keys of a lag report's rows."""

_NAMING: Final = tuple(
    f"{length}{window}" for window in ("", "_before") for length in ("hourly", "daily", "monthly")
)
"""Columns of a lag report that name figures: those that are made of roll-ups."""

Samples = Callable[[str, Item], Iterable[Sample]]
"""Makes samples of the name of a cluster and an item of its document."""


def report_metrics(report: Report) -> str:
    """A report as figures for Prometheus, and when and how well they were read."""
    samples = _OF_DOCUMENTS.get(report.schema) or lag_row_samples(report.views[0].name)
    command = report.schema.removeprefix("kgroups.").partition("/")[0].replace(".", " ")

    def every() -> Iterator[Sample]:
        cluster = _cluster(report)
        for item in report.documents:
            yield from samples(str(item.get("context") or cluster), item)
        labels = {"cluster_name": cluster, "command": command}
        yield Sample("kgroups_run_errors", labels, len(report.errors))
        seconds = report.generated_at_ms / 1_000
        yield Sample("kgroups_run_timestamp_seconds", labels, seconds)

    return metrics_text(every(), FAMILIES)


def _cluster(report: Report) -> str:
    where = report.cluster or {}
    return str(where.get("id") or where.get("bootstrap") or "")


def listed_samples(cluster: str, item: Item) -> Iterator[Sample]:
    """Of a group in a list."""
    yield _info(cluster, item)
    yield from _figures(cluster, item["group"], item)


def described_samples(cluster: str, item: Item) -> Iterator[Sample]:
    """Of a described group and its partitions."""
    group = item["group"]
    labels = {"cluster_name": cluster, "group": group}
    yield _info(cluster, item)
    count = item.get("member_count")
    if count is None and item.get("members") is not None:
        count = len(item["members"])
    figures = {
        **item,
        "member_count": count,
        "partitions": None if item.get("offsets") is None else len(item["offsets"]),
    }
    yield from _figures(cluster, group, figures)
    lags: dict[str, int | None] = {}
    for row in item.get("offsets") or ():
        place = {"topic": row["topic"], "partition": row["partition"]}
        owner = {
            "member_host": row["host"],
            "consumer_id": row["member_id"],
            "client_id": row["client_id"],
        }
        whole = {**labels, **place, **owner}
        yield Sample("kafka_consumergroup_group_offset", whole, row["committed_offset"])
        yield Sample("kafka_consumergroup_group_lag", whole, row["lag"])
        yield Sample("kafka_consumergroup_group_lag_seconds", whole, row.get("lag_seconds"))
        log = {"cluster_name": cluster, **place}
        yield Sample("kafka_partition_earliest_offset", log, row["log_start_offset"])
        yield Sample("kafka_partition_latest_offset", log, row["log_end_offset"])
        if row["lag"] is not None:
            lags[row["topic"]] = (lags.get(row["topic"]) or 0) + row["lag"]
    for topic, total in lags.items():
        yield Sample("kafka_consumergroup_group_topic_sum_lag", {**labels, "topic": topic}, total)


def checked_samples(cluster: str, item: Item) -> Iterator[Sample]:
    """Of a group before its conditions."""
    labels = {"cluster_name": cluster, "group": item["group"]}
    yield _info(cluster, {**item["figures"], "group": item["group"]})
    yield from _figures(cluster, item["group"], item["figures"])
    for verdict in VERDICTS:
        labelled = {**labels, "verdict": verdict}
        yield Sample("kgroups_check_verdict", labelled, item["verdict"] == verdict)
    for condition in item["conditions"]:
        labelled = {name: condition[name] for name in ("condition", "severity")}
        yield Sample("kgroups_check_condition", {**labels, **labelled}, condition["holds"])


def lag_row_samples(by: str) -> Samples:
    """Of the rows of a lag report."""
    names = {"group": _OF_GROUPS, "partition": _OF_PARTITIONS}.get(by, {})

    def samples(cluster: str, item: Item) -> Iterator[Sample]:
        labels = {label: item[name] for name, label in _LABELS.items() if name in item}
        labels["cluster_name"] = labels.get("cluster_name") or cluster
        for name, value in item.items():
            if name in _LABELS or isinstance(value, str):
                continue
            yield Sample(names.get(name, f"kgroups_lag_report_{by}_{name}"), labels, value)
        if item.get("verdict") is not None:
            said = {"verdict": item["verdict"], "rule": item["verdict_rule"]}
            yield Sample(f"kgroups_lag_report_{by}_verdict", {**labels, **said}, 1)
        for name in _NAMING:
            for figure in (item.get(name) or "").split(","):
                labelled = {**labels, "figure": figure}
                yield Sample(f"kgroups_lag_report_{by}_{name}", labelled, 1 if figure else None)

    return samples


def _info(cluster: str, item: Item) -> Sample:
    at = item.get("coordinator") or {}
    return Sample(
        "kafka_consumer_group_info",
        {
            "cluster_name": cluster,
            "group": item["group"],
            "group_id": item["group"],
            "type": item.get("type"),
            "state": item.get("state"),
            "protocol_type": item.get("protocol_type"),
            "protocol": item.get("assignor"),
            "coordinator_id": item.get("coordinator_id", at.get("id")),
        },
        1,
    )


def _figures(cluster: str, group: str, figures: Mapping[str, Any]) -> Iterator[Sample]:
    for name, family in _OF_GROUPS.items():
        labels = {"cluster_name": cluster, "group": group}
        if family == "kafka_consumer_group_members":
            labels["group_id"] = group
        value = figures.get(name)
        if value is not None and not isinstance(value, str | list):
            yield Sample(family, labels, value)


_OF_DOCUMENTS: Final[Mapping[str, Samples]] = {
    "kgroups.list/1": listed_samples,
    "kgroups.describe/1": described_samples,
    "kgroups.check/1": checked_samples,
}
"""The maker of samples, by item of a document; for the rows of a lag report by their grouping."""
