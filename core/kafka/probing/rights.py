"""Rights after the login: brokers, groups, topics, `__consumer_offsets`, the clock."""

import asyncio
import time
from dataclasses import replace
from typing import Any, Final

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.errors import ClusterError, KgroupsError, counted
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure, item_error
from kgroups.core.kafka.probing.step import Status, Step, failed
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api

CLUSTER: Final = "cluster"
METADATA_LOG: Final = "__cluster_metadata"
GROUPS_TRIED: Final = 100
LARGE_DIFFERENCE_MS: Final = 5_000
FETCH_BYTES: Final = 1_024
NOT_TOLD: Final = "the brokers do not tell their time (DescribeQuorum, Kafka 3.3 and newer)"


def brokers(admin: ClusterAdmin) -> list[Step]:
    """Whether every broker can be reached where it says it is."""

    async def ask(cluster: Cluster, deadline: Deadline) -> list[Step]:
        limit = deadline.share(len(cluster.brokers))

        async def knock(broker: int) -> Step | None:
            try:
                await cluster.connection(broker, limit)
            except BrokerFailure as failure:
                return failed("brokers", cluster.label(broker), failure)
            return None

        steps = await asyncio.gather(*map(knock, cluster.brokers))
        problems = [step for step in steps if step is not None]
        count = len(cluster.brokers)
        detail = f"{counted(count, 'broker')} where advertised"
        return problems or [Step("brokers", CLUSTER, "ok", detail, cluster_id=cluster.cluster_id)]

    skipped = Step("brokers", CLUSTER, "skipped", str(admin.notice))
    return admin.over_wire(ask, lambda _: [skipped])


def groups(admin: ClusterAdmin) -> list[Step]:
    """Whether groups can be listed and described."""
    try:
        listing = admin.list_groups()
    except ClusterError as error:
        return [replace(failed("groups", CLUSTER, error), remedy=_to_list(error.code, error.hint))]
    if listing.errors:
        worst = listing.errors[0]
        status: Status = "warning" if listing.groups else "failed"
        remedy = _to_list(worst.code, worst.hint)
        failure = f"groups cannot be listed: {worst.text}"
        return [Step("groups", CLUSTER, status, failure, remedy, code=worst.code)]
    names = [group.group for group in listing.groups]
    detail = f"{counted(len(names), 'group')} visible"
    hidden = admin.hidden_groups(names[:GROUPS_TRIED], listing.groups)
    if hidden:
        return [
            Step(
                "groups",
                CLUSTER,
                "warning",
                f"{detail}; of {min(len(names), GROUPS_TRIED)} tried, {len(hidden)} may not be "
                f"described, `{hidden[0].target}` for one",
                "grant DESCRIBE on these groups",
                code=hidden[0].code,
            )
        ]
    return [Step("groups", CLUSTER, "ok", detail)]


def _to_list(code: str, hint: str | None) -> str | None:
    """Advice where groups cannot be listed."""
    if code == "CLUSTER_AUTHORIZATION_FAILED":
        return "grant DESCRIBE on the cluster, or on the groups by name"
    return hint


def topics(admin: ClusterAdmin) -> list[Step]:
    """How many topics are visible: brokers hide those without DESCRIBE."""
    count = len(admin.topic_names())
    detail = f"{counted(count, 'topic')} visible"
    if not count:
        detail += "; there are none, or DESCRIBE is missing on all of them"
    return [Step("topics", CLUSTER, "ok", detail)]


def offsets_topic(admin: ClusterAdmin) -> list[Step]:
    """Whether `__consumer_offsets` can be read, which few commands need."""

    async def ask(cluster: Cluster, deadline: Deadline) -> str | None:
        answer = await cluster.metadata([OFFSETS_TOPIC], deadline)
        topic = next(item for item in answer.topics if item.name == OFFSETS_TOPIC)
        code = error_name(topic.error_code)
        leaders = [part for part in topic.partitions if part.leader_id >= 0]
        if code is not None or not leaders:
            return code or "LEADER_NOT_AVAILABLE"
        number, leader = leaders[0].partition_index, leaders[0].leader_id
        bound = requests.list_offsets({(OFFSETS_TOPIC, number): requests.EARLIEST})
        _, answer = await cluster.ask(leader, Api.LIST_OFFSETS, bound, deadline.at)
        part = answer.topics[0].partitions[0]
        code = error_name(part.error_code)
        if code is not None:
            return code
        body = requests.fetch({(OFFSETS_TOPIC, number): part.offset}, FETCH_BYTES)
        _, answer = await cluster.ask(leader, Api.FETCH, body, deadline.at)
        if not answer.responses:  # a quota has emptied it, so it may be read
            return None
        return error_name(answer.responses[0].partitions[0].error_code)

    if admin.notice is not None:
        return [Step("read", OFFSETS_TOPIC, "skipped", admin.notice)]
    code = admin.over_wire(ask)
    if code is None:
        return [Step("read", OFFSETS_TOPIC, "ok", "can be read")]
    if code == "UNKNOWN_TOPIC_OR_PARTITION":
        return [Step("read", OFFSETS_TOPIC, "skipped", "does not exist yet: nobody has committed")]
    error = item_error(OFFSETS_TOPIC, code)
    remedy = error.hint
    if code == "TOPIC_AUTHORIZATION_FAILED":
        remedy = (
            f"grant READ on topic {OFFSETS_TOPIC} if you use `lag history` or "
            "`plan --leader-from-log`; nothing else needs it"
        )
    return [Step("read", OFFSETS_TOPIC, "warning", error.message, remedy, code=code)]


def clock(admin: ClusterAdmin) -> list[Step]:
    """The difference between our clock and that of the controller, half a round trip exactly."""

    async def ask(cluster: Cluster, deadline: Deadline) -> tuple[Any, float, float]:
        body = requests.describe_quorum(METADATA_LOG)
        broker = min(cluster.brokers)
        await cluster.connection(broker, deadline.at)
        began = time.time()
        _, answer = await cluster.ask(broker, Api.DESCRIBE_QUORUM, body, deadline.at)
        return answer, began, time.time()

    target = "clock"
    if admin.notice is not None:
        return [Step("clock", target, "skipped", admin.notice)]
    try:
        answer, began, ended = admin.over_wire(ask)
    except KgroupsError as error:
        if error.code != "UNSUPPORTED_VERSION":
            raise
        return [Step("clock", target, "skipped", NOT_TOLD)]
    code = error_name(answer.error_code)
    parts = [part for topic in answer.topics for part in topic.partitions]
    code = code or next((error_name(part.error_code) for part in parts), None)
    if code is not None:
        detail = f"the clock cannot be compared: {item_error(target, code).message}"
        remedy = "grant DESCRIBE on the cluster; nothing else needs it"
        return [Step("clock", target, "warning", detail, remedy, code=code)]
    voters = [voter for part in parts for voter in part.current_voters]
    then_ms = max((int(voter.last_caught_up_timestamp) for voter in voters), default=-1)
    if then_ms < 0:
        return [Step("clock", target, "skipped", NOT_TOLD)]
    ahead_ms = round(then_ms - 500 * (began + ended))
    doubt_ms = 500 * (ended - began)
    return [_judged(target, ahead_ms, doubt_ms)]


def _judged(target: str, ahead_ms: int, doubt_ms: float) -> Step:
    size_s = abs(ahead_ms) / 1_000
    side = "ahead of" if ahead_ms > 0 else "behind"
    detail = f"the controller's clock is {size_s:.1f} s {side} this machine's"
    if abs(ahead_ms) - doubt_ms <= LARGE_DIFFERENCE_MS:
        return Step("clock", target, "ok", detail, clock_ahead_ms=ahead_ms)
    remedy = "set both clocks by NTP: lag in seconds and resets by time are wrong by as much"
    return Step("clock", target, "warning", detail, remedy, clock_ahead_ms=ahead_ms)
