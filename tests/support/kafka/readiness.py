"""When a broker that was started serves, by requests that every release since 2.4 answers."""

from kio.schema.find_coordinator.v3.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v3.response import FindCoordinatorResponse
from kio.schema.metadata.v9.request import MetadataRequest
from kio.schema.metadata.v9.response import MetadataResponse
from kio.schema.offset_fetch.v7.request import OffsetFetchRequest
from kio.schema.offset_fetch.v7.response import OffsetFetchResponse
from kio.schema.types import GroupId
from kio.static.primitive import i8

from tests.support.kafka.broker_requests import WireConnection

# Enough names to meet every partition of `__consumer_offsets`.
PROBES = tuple(f"probe-{number}" for number in range(500))


def cluster_id_of(address: str) -> str:
    """The id that the cluster gave itself."""
    with WireConnection(address) as connection:
        return _metadata(connection).cluster_id or ""


def serves(address: str, node_id: int, running: set[int], *, all_run: bool) -> bool:
    """Whether this broker sees every running one and the groups that it coordinates are loaded.

    Asking for coordinators makes `__consumer_offsets`, so no test waits for that.

    Args:
        all_run: with a broker stopped on purpose some coordinators may be away.
    """
    try:
        with WireConnection(address, timeout_s=10) as connection:
            known = _metadata(connection)
            if not {broker.node_id for broker in known.brokers} >= running:
                return False
            for name in PROBES:
                connection.send(FindCoordinatorRequest(key=name, key_type=i8(0)))
            found = [connection.receive(FindCoordinatorResponse) for _ in PROBES]
            if all_run and any(each.error_code for each in found):
                return False
            asked = zip(PROBES, found, strict=True)
            own = [name for name, each in asked if each.node_id == node_id and not each.error_code]
            for name in own:
                connection.send(
                    OffsetFetchRequest(group_id=GroupId(name), topics=None, require_stable=False)
                )
            return not any(connection.receive(OffsetFetchResponse).error_code for _ in own)
    except OSError:
        return False


def _metadata(connection: WireConnection) -> MetadataResponse:
    return connection.ask(
        MetadataRequest(
            topics=(),
            allow_auto_topic_creation=False,
            include_cluster_authorized_operations=False,
            include_topic_authorized_operations=False,
        ),
        MetadataResponse,
    )
