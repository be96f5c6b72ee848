"""Commits of many rows: the bytes are the codec's, and odd answers are left to it."""

from collections.abc import Iterable
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.core.protocol.budget import Budget, Room
from kgroups.core.protocol.frames import read_response, write_request, write_response
from kgroups.core.protocol.rows import BY_ID, BY_NAME, decode_commits, encode_commits
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.snapshot import CommittedOffset

NAMES = st.text(min_size=1, max_size=200).filter(lambda text: text.isprintable())
COMMITS = st.builds(
    CommittedOffset,
    st.integers(0, 2**63 - 1),
    st.none() | st.integers(0, 2**31 - 1),
    st.text(max_size=300),
)
TOPICS = st.dictionaries(
    NAMES, st.dictionaries(st.integers(0, 2**31 - 1), COMMITS, min_size=1, max_size=150), max_size=3
)
FETCHED = st.dictionaries(
    st.integers(0, 2**31 - 1),
    st.tuples(
        st.integers(-1, 2**63 - 1),
        st.integers(-1, 2**31 - 1),
        st.just("") | st.none() | st.text(max_size=150),
        st.sampled_from([0] * 20 + [3, 12]),
    ),
    max_size=40,
)
GROUPS = st.dictionaries(
    NAMES,
    st.tuples(st.sampled_from([0] * 20 + [16, 30]), st.dictionaries(NAMES, FETCHED, max_size=3)),
    max_size=4,
)
Groups = dict[str, tuple[int, dict[str, dict[int, Any]]]]


def ids_of(topics: Iterable[str]) -> dict[str, bytes]:
    """An id for each topic."""
    return {topic: uuid5(NAMESPACE_OID, topic).bytes for topic in topics}


def epoch_number(epoch: int | None) -> int:
    """An epoch as it is on the wire."""
    return -1 if epoch is None else epoch


@pytest.mark.parametrize("version", [*BY_NAME, BY_ID])
@given(group=NAMES, topics=TOPICS)
def test_the_bytes_are_the_codecs(
    version: int, group: str, topics: dict[str, dict[int, CommittedOffset]]
) -> None:
    """Any names, offsets, epochs and metadata."""
    ids = ids_of(topics)
    message = Struct(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        topics=[
            Struct(
                name=topic,
                topic_id=UUID(bytes=ids[topic]),
                partitions=[
                    Struct(
                        partition_index=number,
                        committed_offset=commit.offset,
                        committed_leader_epoch=epoch_number(commit.leader_epoch),
                        committed_metadata=commit.metadata,
                    )
                    for number, commit in rows.items()
                ],
            )
            for topic, rows in topics.items()
        ],
    )
    ours = encode_commits(group, topics, ids if version == BY_ID else None)
    theirs = write_request(Api.OFFSET_COMMIT, version, 7, "c", message)
    assert write_request(Api.OFFSET_COMMIT, version, 7, "c", ours) == theirs


def answer(version: int, groups: Groups) -> bytes:
    """An answer to OffsetFetch, from the correlation id on."""
    message = Struct(
        throttle_time_ms=3,
        groups=[
            Struct(
                group_id=group,
                error_code=error,
                topics=[
                    Struct(
                        name=topic,
                        partitions=[
                            Struct(
                                partition_index=number,
                                committed_offset=offset,
                                committed_leader_epoch=epoch,
                                metadata=metadata,
                                error_code=code,
                            )
                            for number, (offset, epoch, metadata, code) in rows.items()
                        ],
                    )
                    for topic, rows in topics.items()
                ],
            )
            for group, (error, topics) in groups.items()
        ],
    )
    return bytes(write_response(Api.OFFSET_FETCH, version, 7, message))[4:]


def commits_in(message: Any) -> dict[str, dict[str, dict[int, CommittedOffset]]]:
    """What there is in an answer that the codec has read, in order."""
    found = {}
    for group in message.groups:
        topics = {}
        for topic in sorted(group.topics, key=lambda topic: topic.name):
            rows = {
                row.partition_index: CommittedOffset(
                    row.committed_offset,
                    None if row.committed_leader_epoch < 0 else row.committed_leader_epoch,
                    row.metadata or "",
                )
                for row in sorted(topic.partitions, key=lambda row: row.partition_index)
                if row.committed_offset >= 0
            }
            if rows:
                topics[topic.name] = rows
        found[group.group_id] = topics
    return found


@pytest.mark.parametrize("version", BY_NAME)
@given(groups=GROUPS)
def test_commits_are_read_as_the_codec_reads_them(version: int, groups: Groups) -> None:
    """With and without commits and metadata, in the same order; not if there is an error."""
    frame = answer(version, groups)
    found = decode_commits(frame, Budget(1 << 30))
    failed = any(
        error or any(code for rows in topics.values() for *_, code in rows.values())
        for error, topics in groups.values()
    )
    if failed:
        assert found is None
    else:
        expected = commits_in(read_response(Api.OFFSET_FETCH, version, frame, Budget(1 << 30)))
        assert repr(found) == repr(expected)


@pytest.mark.parametrize("version", BY_NAME)
@given(st.binary(max_size=60))
def test_wild_commits_are_left_to_the_codec(version: int, wild: bytes) -> None:
    """Bytes that are no answer, an answer that was cut, and one that is too large."""
    groups: Groups = {"g": (0, {"t": {0: (5, 1, "", 0), 1: (6, 1, "note", 0)}})}
    whole = answer(version, groups)
    assert isinstance(decode_commits(whole[:5] + wild, Budget(1 << 30)), dict | None)
    assert all(decode_commits(whole[:end], Budget(1 << 30)) is None for end in range(5, len(whole)))
    assert decode_commits(whole, Budget(100)) is None
    room = Room(1000)
    assert decode_commits(whole, Budget(1 << 30, room)) is not None
    assert room.spent == 400
