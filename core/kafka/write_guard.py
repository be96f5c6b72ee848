"""Checks before anything is written to a cluster."""

from typing import Final, NamedTuple

from kgroups.core.errors import RefusedError
from kgroups.core.kafka.group_kinds import KINDS
from kgroups.core.protocol.tables.api_keys import Api

WRITE_APIS: Final = frozenset(
    {
        Api.DELETE_GROUPS,
        Api.DELETE_RECORDS,
        Api.LEAVE_GROUP,
        Api.INIT_PRODUCER_ID,
        Api.WRITE_TXN_MARKERS,
        Api.INCREMENTAL_ALTER_CONFIGS,
    }.union(*({kind.committer, kind.deleter} for kind in KINDS.values()))
)
"""The requests that change something in a cluster."""


def check_write(api: Api, message: object, *, may_write: bool) -> None:
    """See that a request which changes something belongs to a question that may.

    A write that no guard was asked about is a mistake of ours. One that is only to be validated
    changes nothing.
    """
    if api in WRITE_APIS and not may_write and not getattr(message, "validate_only", False):
        raise RuntimeError(f"{api.name} in a question that may not write")


class WriteGuard(NamedTuple):
    """Conditions on writes; the default has none.

    Args:
        refusal: why nothing may be written to any cluster.
        expected: who says which cluster it has to be, and its id; all of them have to be right.
    """

    refusal: RefusedError | None = None
    expected: tuple[tuple[str, str], ...] = ()

    def check_refusal(self) -> None:
        """See that something may be written somewhere.

        Raises:
            RefusedError: it may not.
        """
        if self.refusal is not None:
            raise self.refusal

    def check_cluster(self, cluster_id: str | None) -> None:
        """See that this cluster is the one that is meant.

        Args:
            cluster_id: as the cluster says; None if it does not.
        Raises:
            RefusedError: it is another one.
        """
        for who, expected in self.expected:
            if cluster_id != expected:
                actual = "tells no id" if cluster_id is None else f"has the id `{cluster_id}`"
                raise RefusedError(
                    f"the cluster {actual}, not `{expected}` as {who} expects; nothing was written",
                    hint="check the address: this is another cluster",
                    code="OTHER_CLUSTER",
                )
