"""Kafka's consumer groups for programs.

    from kgroups import Cluster

    with Cluster("localhost:9092") as cluster:
        snapshot = cluster.snapshot(["billing"])

`kgroups.lag`, `kgroups.planning`, `kgroups.assignors`, `kgroups.coordinator`, `kgroups.sandbox` and
`kgroups.spark` have what belongs to each subject; all else is private. see docs/library.md.
"""

from importlib import import_module

TYPE_CHECKING = False  # `typing` takes as long to import as all else before Ctrl-C is handled
if TYPE_CHECKING:
    from kgroups.cluster import Cluster
    from kgroups.core.errors import (
        ClusterError,
        KgroupsError,
        NotFoundError,
        RefusedError,
        UsageError,
    )
    from kgroups.core.snapshot import ClusterSnapshot
    from kgroups.core.snapshot_file import read_snapshot, write_snapshot

__all__ = [
    "Cluster",
    "ClusterError",
    "ClusterSnapshot",
    "KgroupsError",
    "NotFoundError",
    "RefusedError",
    "UsageError",
    "read_snapshot",
    "write_snapshot",
]

# Imported when they are asked for: the command line, which is in this package, needs few.
_HOMES = {
    "Cluster": "kgroups.cluster",
    "ClusterSnapshot": "kgroups.core.snapshot",
    "read_snapshot": "kgroups.core.snapshot_file",
    "write_snapshot": "kgroups.core.snapshot_file",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module `kgroups` has no attribute `{name}`")
    return getattr(import_module(_HOMES.get(name, "kgroups.core.errors")), name)
