"""Writes to many groups at once: commits, and deletion of commits.

All groups of a round are placed by one question, and their requests are on the way together; what
may be tried again is, within the deadline. Every item has its own answer.

Start offsets of share groups have no metadata and no leader epoch, and are deleted topic by topic.
A partition whose start offset is altered begins anew: what was acknowledged or archived in it is
delivered again. Source: KIP-932; `ShareGroupOffset.fromRequest`.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from kgroups.core.errors import ItemError, RefusedError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.doubts import Doubts, Failure
from kgroups.core.kafka.failures import (
    BrokerFailure,
    Lost,
    item_error,
    left_out,
    may_repeat,
    refusal,
)
from kgroups.core.kafka.group_kinds import kind_of
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.connection import Reader
from kgroups.core.kafka.transport.messages import Message, decode_response
from kgroups.core.kafka.transport.requests import by_topic
from kgroups.core.kafka.writes.commit_reads import read_held
from kgroups.core.offsets.change import Key
from kgroups.core.offsets.read_back import Held
from kgroups.core.protocol.budget import Room
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.rows import BY_ID, BY_NAME, encode_commits
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.snapshot import CommittedOffset, TopicPartition
from kgroups.core.uuids import uuid_from

Commits = Mapping[TopicPartition, CommittedOffset | None]
Failures = dict[TopicPartition, Failure]
Answers = dict[Key, ItemError | None]

_NO_EPOCH = -1
_NO_IDS: Mapping[str, str | None] = MappingProxyType({})
_NO_NAMES: Mapping[bytes, str] = MappingProxyType({})
LANES = 16
"""Connections to each coordinator, when there are many groups."""

GROUPS_A_LANE = 30

_UNANSWERED = Lost.of(left_out())
EVERY: Final = -1
"""In an answer that is about whole topics: all partitions that were asked for."""


def write_commits(admin: ClusterAdmin, groups: Mapping[str, Commits]) -> Answers:
    """Outcome for each partition of these groups: an error, or None when it was done.

    Args:
        groups: group to partition to its new commit; None deletes the commit.
    """
    return write_and_read(admin, groups, ())[0]


def write_and_read(
    admin: ClusterAdmin,
    groups: Mapping[str, Commits],
    read: Sequence[str],
    until: Deadline | None = None,
    topic_ids: Mapping[str, str | None] = _NO_IDS,
) -> tuple[Answers, dict[str, Held | None]]:
    """Answers of `write_commits`, and what other groups have committed meanwhile.

    Args:
        admin, groups: as for `write_commits`.
        read: not among `groups`; what cannot be read now is missing in what is given back.
        until: when to try no longer; the admin's own deadline if None.
        topic_ids: of the topics, as far as they are known: one that has another id by now gets no
            commit, where the broker takes ids (from Kafka 4.2 on).
    """
    ids = {name: uuid_from(text).bytes for name, text in topic_ids.items() if text is not None}
    doubts: Doubts[Key] = Doubts()

    async def ask(
        cluster: Cluster, deadline: Deadline
    ) -> tuple[dict[str, Failures], dict[str, Held | None]]:
        async def look() -> dict[str, Held | None]:
            try:
                held = await read_held(cluster, read, deadline, LANES) if read else {}
            except BrokerFailure:
                return {}
            return {group: commits for group, commits in held.items() if commits is not None}

        return await asyncio.gather(_write(cluster, groups, ids, deadline, doubts), look())

    found, held = admin.over_wire(
        ask, lambda client: (client.write_commits(groups, doubts), {}), until=until, writes=True
    )
    answers: Answers = {
        (group, topic, number): None
        if failure is None
        else doubts.error((group, topic, number), f"{group} {topic}-{number}", failure, _error)
        for group, failures in found.items()
        for (topic, number), failure in failures.items()
    }
    return answers, held


async def _write(
    cluster: Cluster,
    groups: Mapping[str, Commits],
    ids: Mapping[str, bytes],
    deadline: Deadline,
    doubts: Doubts[Key],
) -> dict[str, Failures]:
    """The answers to the commits and deletions of these groups, tried again where it may help."""
    found: dict[str, Failures] = {}
    left: dict[str, Commits] = {group: commits for group, commits in groups.items() if commits}
    async for attempt in Attempts(deadline, whole=True):
        find = cluster.known_coordinators if attempt == 1 else cluster.coordinators
        placed, lost = await find(list(left), deadline)

        names = [group for group in left if group in placed]
        lanes = min(LANES, 1 + len(names) // GROUPS_A_LANE)
        bundles: dict[tuple[int, int], dict[str, Commits]] = {}
        for index, group in enumerate(names):
            bundles.setdefault((placed[group], index % lanes), {})[group] = left[group]
        answers = await asyncio.gather(
            *(
                _write_bundle(cluster, broker, lane, bundle, ids, deadline)
                for (broker, lane), bundle in bundles.items()
            )
        )
        round_: dict[str, Failures] = {
            group: failures for answer in answers for group, failures in answer.items()
        }
        round_ |= {group: dict.fromkeys(left[group], why) for group, why in lost.items()}
        again: dict[str, Commits] = {}
        for group, failures in round_.items():
            if group in found:
                found[group].update(failures)
            else:
                found[group] = failures
            if not any(failures.values()):
                continue
            for (topic, number), why in failures.items():
                doubts.note((group, topic, number), why)
            repeat = {at: left[group][at] for at, why in failures.items() if may_repeat(why)}
            if repeat:
                again[group] = repeat
        left = again
        if not left:
            break
        cluster.forget_failures()
    return found


def _error(target: str, failure: str | BrokerFailure) -> ItemError:
    if failure == "UNKNOWN_MEMBER_ID":  # a commit of nobody, to a group that is not empty any more
        hint = "stop its consumers first, then try again"
        return ItemError(target, failure, "the group has members now", hint, RefusedError.exit_code)
    if failure == "UNKNOWN_TOPIC_ID":
        text = "the topic was deleted or recreated meanwhile"
        return ItemError(target, failure, text, None, RefusedError.exit_code)
    return item_error(target, failure)


async def _write_bundle(
    cluster: Cluster,
    broker: int,
    lane: int,
    groups: Mapping[str, Commits],
    ids: Mapping[str, bytes],
    deadline: Deadline,
) -> dict[str, Failures]:
    """The answers of groups of one coordinator: at most one commit and one deletion each."""
    found: dict[str, Failures] = {group: {} for group in groups}
    wanted: dict[Api, dict[str, dict[TopicPartition, CommittedOffset | None]]] = {}
    for group, commits in groups.items():
        kind = kind_of(cluster.types, group)
        for at, commit in commits.items():
            api = kind.deleter if commit is None else kind.committer
            wanted.setdefault(api, {}).setdefault(group, {})[at] = commit
    names = {ids[name]: name for name in ids}
    for api, (make, _) in _WRITES.items():
        answers = await _ask_each(
            cluster,
            (broker, lane),
            api,
            {group: partial(make, group, rows, ids) for group, rows in wanted.get(api, {}).items()},
            deadline.share(2),
            partial(decode_written, names=names),
        )
        for group, answer in answers.items():
            rows = wanted[api][group]
            told = answer if isinstance(answer, dict) else dict.fromkeys(rows, answer)
            found[group] |= {
                at: told[at] if at in told else told.get((at[0], EVERY), _UNANSWERED) for at in rows
            }
    return found


async def _ask_each(
    cluster: Cluster,
    place: tuple[int, int],
    api: Api,
    requests: Mapping[str, Callable[[int], Message]],
    limit: float,
    read: Reader,
) -> dict[str, Any]:
    """The answer about each group, or a `BrokerFailure`; all requests are sent together.

    Args:
        place: the coordinator, and which of the connections to it.
        requests: by group, of a version.
    """
    if not requests:
        return {}
    broker, lane = place
    try:
        version = (await cluster.connection(broker, limit, lane)).offers(api) or 0
        messages = [request(version) for request in requests.values()]
        answers = await cluster.ask_many(broker, api, messages, limit, read, lane)
    except BrokerFailure as failure:
        answers = [failure] * len(requests)
    return dict(zip(requests, answers, strict=True))


def _commit_request(group: str, wanted: Commits, ids: Mapping[str, bytes], version: int) -> Message:
    """A commit of nobody: no member, no generation; by the topics' ids where that can be."""
    commits: dict[str, dict[int, CommittedOffset]] = {}
    for at, commit in wanted.items():
        if commit is not None:
            commits.setdefault(at[0], {})[at[1]] = commit
    if version == BY_ID and commits.keys() <= ids.keys():
        return encode_commits(group, commits, ids)
    if version >= BY_NAME[0]:
        return replace(encode_commits(group, commits), version=min(version, BY_NAME[-1]))
    topics = [
        Struct(
            name=topic,
            partitions=[
                Struct(
                    partition_index=number,
                    committed_offset=commit.offset,
                    committed_leader_epoch=(
                        _NO_EPOCH if commit.leader_epoch is None else commit.leader_epoch
                    ),
                    committed_metadata=commit.metadata,
                )
                for number, commit in rows.items()
            ],
        )
        for topic, rows in commits.items()
    ]
    return Struct(group_id=group, member_id="", topics=topics)


def _delete_request(
    group: str, partitions: Commits, _ids: Mapping[str, bytes], _version: int
) -> Struct:
    """The request that deletes a group's commits of these partitions."""
    rows = by_topic(partitions, lambda number, _: Struct(partition_index=number))
    topics = [Struct(name=topic, partitions=parts) for topic, parts in rows.items()]
    return Struct(group_id=group, topics=topics)


def _committed(version: int, answer: Message, names: Mapping[bytes, str]) -> Failures:
    found: Failures = {}
    for topic in answer.topics:
        name = topic.name
        if version >= BY_ID:
            name = None if topic.topic_id is None else names.get(topic.topic_id.bytes)
        if name is not None:
            for row in topic.partitions:
                found[name, row.partition_index] = error_name(row.error_code)
    return found


def _deleted(_version: int, answer: Message, _names: Mapping[bytes, str]) -> Failures | str:
    return error_name(answer.error_code) or {
        (topic.name, item.partition_index): error_name(item.error_code)
        for topic in answer.topics
        for item in topic.partitions
    }


def alter_start_request(
    group: str,
    offsets: Commits,
    _ids: Mapping[str, bytes],
    _version: int,
) -> Struct:
    """The request that alters the start offsets of a share group."""
    given = {at: commit.offset for at, commit in offsets.items() if commit is not None}
    rows = by_topic(given, lambda number, at: Struct(partition_index=number, start_offset=at))
    topics = [Struct(topic_name=topic, partitions=parts) for topic, parts in rows.items()]
    return Struct(group_id=group, topics=topics)


def delete_start_request(
    group: str,
    offsets: Commits,
    _ids: Mapping[str, bytes],
    _version: int,
) -> Struct:
    """The request that deletes the start offsets of a share group on these topics."""
    topics = [Struct(topic_name=topic) for topic in dict.fromkeys(topic for topic, _ in offsets)]
    return Struct(group_id=group, topics=topics)


def _starts_altered(
    _version: int, answer: Message, _names: Mapping[bytes, str]
) -> Failures | str | BrokerFailure:
    return refusal(answer) or {
        (topic.topic_name, item.partition_index): refusal(item)
        for topic in answer.responses
        for item in topic.partitions
    }


def _starts_deleted(
    _version: int, answer: Message, _names: Mapping[bytes, str]
) -> Failures | str | BrokerFailure:
    return refusal(answer) or {
        (topic.topic_name, EVERY): refusal(topic) for topic in answer.responses
    }


_WRITES: Final = {
    Api.OFFSET_COMMIT: (_commit_request, _committed),
    Api.OFFSET_DELETE: (_delete_request, _deleted),
    Api.ALTER_SHARE_GROUP_OFFSETS: (alter_start_request, _starts_altered),
    Api.DELETE_SHARE_GROUP_OFFSETS: (delete_start_request, _starts_deleted),
}
"""How each request is made and its answer is read, in the order in which they are sent."""


def decode_written(
    api: Api,
    version: int,
    frame: bytes,
    room: Room | None = None,
    *,
    names: Mapping[bytes, str] = _NO_NAMES,
) -> Failures | str | BrokerFailure:
    """Why each partition was not done, or None, in the answer to a write; or why none was.

    Args:
        names: of topics, by their ids; an answer by ids says nothing of others.
    Raises:
        BrokerFailure: the bytes are not an answer of this version.
    """
    return _WRITES[api][1](version, decode_response(api, version, frame, room), names)
