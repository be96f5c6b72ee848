"""The guard on writes: through either client, and for whoever forgets to ask."""

from collections.abc import Callable, Iterator

import pytest

from kgroups.core.errors import RefusedError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.requests import delete_groups
from kgroups.core.kafka.write_guard import WriteGuard
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.kafka.writes.record_deletion import delete_records
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import CommittedOffset

WRITES: dict[str, Callable[[ClusterAdmin], object]] = {
    "groups": lambda admin: admin.delete_groups(["g"]),
    "commits": lambda admin: write_commits(admin, {"g": {("t", 0): CommittedOffset(1)}}),
    "records": lambda admin: delete_records(admin, {("t", 0): 0}),
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """An embedded cluster."""
    with Sandbox(topics={"t": 1}) as made:
        yield made


@pytest.mark.parametrize("through_librdkafka", [False, True])
@pytest.mark.parametrize("write", WRITES)
def test_another_cluster(sandbox: Sandbox, write: str, through_librdkafka: bool) -> None:
    """Refused before each write, and only where the id is another one."""
    settings = ClientSettings(sandbox.bootstrap_servers, through_librdkafka=through_librdkafka)
    for expected, is_refused in ((sandbox.cluster_id, False), ("other", True)):
        guard = WriteGuard(expected=(("the test", expected),))
        before = sandbox.request_counts()
        with ClusterAdmin(settings, guard=guard) as admin:
            if not is_refused:
                WRITES[write](admin)
                assert admin.has_written
                continue
            with pytest.raises(RefusedError, match="not `other` as the test expects") as refusal:
                WRITES[write](admin)
            assert (refusal.value.code, admin.has_written) == ("OTHER_CLUSTER", False)
        new = {api for api, asked in sandbox.request_counts().items() if asked != before.get(api)}
        assert new <= {"ApiVersions", "Metadata"}


def test_a_write_that_asks_no_guard(sandbox: Sandbox) -> None:
    """It is not sent: whoever writes has to say so."""

    async def forgetful(cluster: Cluster, deadline: Deadline) -> object:
        return await cluster.ask(0, Api.DELETE_GROUPS, delete_groups(["g"]), deadline.at)

    with (
        ClusterAdmin(ClientSettings(sandbox.bootstrap_servers)) as admin,
        pytest.raises(RuntimeError, match="may not write"),
    ):
        admin.over_wire(forgetful)
