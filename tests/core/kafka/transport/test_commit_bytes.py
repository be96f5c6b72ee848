"""Commits by hand: the bytes are kio's, and odd answers are read as kio reads them."""

import io
from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.serial import entity_writer

from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.reads.committed_offsets import Commits, commits_of
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.commit_bytes import (
    BY_ID,
    VERSIONS,
    commit_request,
    fetch_request,
    read_commit_answer,
    read_fetch_answer,
    read_fetched,
)
from kgroups.core.kafka.transport.framing import (
    build,
    build_part,
    decode_response,
    encode_request,
    error_name,
    schema,
)
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
ROWS = st.dictionaries(
    NAMES,
    st.dictionaries(st.integers(0, 99), st.sampled_from([0, 0, 0, 3, 16, 25]), min_size=1),
    max_size=3,
)


def ids_of(topics: Iterable[str]) -> dict[str, bytes]:
    """An id for each topic."""
    return {topic: uuid5(NAMESPACE_OID, topic).bytes for topic in topics}


@pytest.mark.parametrize("version", [*VERSIONS, BY_ID])
@given(group=NAMES, topics=TOPICS)
def test_the_bytes_are_kios(
    version: int, group: str, topics: dict[str, dict[int, CommittedOffset]]
) -> None:
    """Any names, offsets, epochs and metadata."""
    module = schema("offset_commit", version, "request")
    ids = ids_of(topics)
    message = build(
        "offset_commit",
        version,
        group_id=group,
        member_id="",
        topics=tuple(
            build_part(
                module,
                "OffsetCommitRequestTopic",
                name=topic,
                topic_id=UUID(bytes=ids[topic]),
                partitions=tuple(
                    build_part(
                        module,
                        "OffsetCommitRequestPartition",
                        partition_index=number,
                        committed_offset=commit.offset,
                        committed_leader_epoch=-1
                        if commit.leader_epoch is None
                        else commit.leader_epoch,
                        committed_metadata=commit.metadata,
                    )
                    for number, commit in rows.items()
                ),
            )
            for topic, rows in topics.items()
        ),
    )
    request = commit_request(group, topics, ids if version == BY_ID else None)
    ours = encode_request("offset_commit", version, 7, "c", request)
    assert ours == encode_request("offset_commit", version, 7, "c", message)


@pytest.mark.parametrize("version", [7, *VERSIONS, BY_ID])
@given(topics=ROWS)
def test_answers_are_read_as_kio_reads_them(
    version: int, topics: dict[str, dict[int, int]]
) -> None:
    """All taken, some refused, or none there; also of a version that is left to kio."""
    module = schema("offset_commit", version, "response")
    ids = ids_of([*topics, "of another question"])
    message = module.OffsetCommitResponse(
        throttle_time=timedelta(),
        topics=tuple(
            build_part(
                module,
                "OffsetCommitResponseTopic",
                name=topic,
                topic_id=UUID(bytes=ids[topic]),
                partitions=tuple(
                    module.OffsetCommitResponsePartition(
                        partition_index=number, error_code=ErrorCode(code)
                    )
                    for number, code in rows.items()
                ),
            )
            for topic, rows in topics.items()
        ),
    )
    buffer = io.BytesIO()
    buffer.write(b"\0\0\0\7" + (b"\0" if version > 7 else b""))
    entity_writer(type(message))(buffer, message)
    names = {ids[topic]: topic for topic in ids}
    assert read_commit_answer("offset_commit", version, buffer.getvalue(), names=names) == {
        (topic, number): error_name(ErrorCode(code))
        for topic, rows in topics.items()
        for number, code in rows.items()
    }


@pytest.mark.parametrize("version", [*VERSIONS, BY_ID])
@given(st.binary(max_size=60))
def test_wild_bytes_are_a_failure(version: int, wild: bytes) -> None:
    """Bytes that are no answer never end in another exception."""
    outcome: object = None
    try:
        outcome = read_commit_answer("offset_commit", version, b"\0\0\0\7" + wild)
    except BrokerFailure as failure:
        outcome = failure.code.removeprefix("UNKNOWN_ERROR_-").removeprefix("UNKNOWN_ERROR_")
    assert isinstance(outcome, dict) or outcome == "CORRUPT_MESSAGE" or str(outcome).isdecimal()


@pytest.mark.parametrize("version", VERSIONS)
@given(groups=st.lists(NAMES, max_size=300))
def test_the_bytes_of_a_fetch_are_kios(version: int, groups: list[str]) -> None:
    """Any names, also more groups than a byte counts."""
    ours = encode_request("offset_fetch", version, 7, "c", fetch_request(version, groups))
    theirs = requests.offset_fetch(groups)(version)
    assert ours == encode_request("offset_fetch", version, 7, "c", theirs)


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


def _fetch_answer(version: int, groups: dict[str, tuple[int, dict[str, dict[int, Any]]]]) -> bytes:
    """An answer to OffsetFetch as kio writes it, from the correlation id on."""
    module = schema("offset_fetch", version, "response")
    message = module.OffsetFetchResponse(
        throttle_time=timedelta(milliseconds=3),
        groups=tuple(
            module.OffsetFetchResponseGroup(
                group_id=group,
                error_code=ErrorCode(error),
                topics=tuple(
                    module.OffsetFetchResponseTopics(
                        name=topic,
                        partitions=tuple(
                            module.OffsetFetchResponsePartitions(
                                partition_index=number,
                                committed_offset=offset,
                                committed_leader_epoch=epoch,
                                metadata=metadata,
                                error_code=ErrorCode(code),
                            )
                            for number, (offset, epoch, metadata, code) in rows.items()
                        ),
                    )
                    for topic, rows in topics.items()
                ),
            )
            for group, (error, topics) in groups.items()
        ),
    )
    buffer = io.BytesIO(b"\0\0\0\7\0")
    buffer.seek(0, io.SEEK_END)
    entity_writer(type(message))(buffer, message)
    return buffer.getvalue()


@pytest.mark.parametrize("version", VERSIONS)
@given(
    groups=st.dictionaries(
        NAMES,
        st.tuples(
            st.sampled_from([0] * 20 + [16, 30]), st.dictionaries(NAMES, FETCHED, max_size=3)
        ),
        max_size=4,
    )
)
def test_commits_are_read_as_kio_reads_them(
    version: int, groups: dict[str, tuple[int, dict[str, dict[int, Any]]]]
) -> None:
    """With and without commits, metadata and errors; and in the same order."""
    frame = _fetch_answer(version, groups)
    message = decode_response("offset_fetch", version, frame)
    theirs = {item.group_id: commits_of(item) for item in message.groups}
    found = read_fetch_answer("offset_fetch", version, frame)
    failed = any(
        error or any(c for t in topics.values() for *_, c in t.values())
        for error, topics in groups.values()
    )
    if failed:
        assert found == message
    else:
        assert repr({group: Commits(own, {}) for group, own in found.items()}) == repr(theirs)


@pytest.mark.parametrize("version", VERSIONS)
@given(st.binary(max_size=60))
def test_wild_commits_are_left_to_kio(version: int, wild: bytes) -> None:
    """Bytes that are no answer, and an answer that was cut, are not read."""
    whole = _fetch_answer(version, {"g": (0, {"t": {0: (5, 1, "", 0), 1: (6, 1, "note", 0)}})})
    assert isinstance(read_fetched(whole[:5] + wild), dict | None)
    assert read_fetched(whole) is not None
    assert all(read_fetched(whole[:end]) is None for end in range(5, len(whole)))
