"""The tables of all protocols put together: what answers a request, plays a record, ends a timer.

How another protocol is added (KIP-848 is the second one): in a module of its own it gives

* `ROUTES`, rows for its requests, and `BRIDGED`, for requests of others when they meet its kind of
  group (`routes.GroupRoute.by_kind`);
* `TIMERS`, timer kind -> function; `REPLAY`, record key -> function that plays the record into
  the state and gives back what undoes it; both are merged by plain union;
* a subclass of `groups.Group`, which answers for offsets, administration and expiry;
* `LOAD` and `UNLOAD`, what happens to its groups when the log of a partition was read or moves
  away (`LIFECYCLE`), and if it must see new topics, a row in `ON_TOPOLOGY`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from kgroups.core.coordinator import admin
from kgroups.core.coordinator.classic import routes as classic_routes
from kgroups.core.coordinator.groups import Group, GroupKind
from kgroups.core.coordinator.kip848 import routes as kip848_routes
from kgroups.core.coordinator.offsets.delete import delete_topic_offsets
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.routes import AnswerAtOnce, AnyRoute, GroupRoute, Routes
from kgroups.core.coordinator.shard import Replay, Shard, TimerHandler, TimerKind
from kgroups.core.coordinator.topology import Topology

Lifecycle = tuple[Callable[[Shard, Group], None], Callable[[Shard, Group], None]]
OnTopology = Callable[[Shard, Topology], None]


def _bridged(request: type[Request], route: AnyRoute) -> AnyRoute:
    """The route, for consumer groups too if they have classic members that send this."""
    handler = kip848_routes.BRIDGED.get(request)
    if handler is None or not isinstance(route, GroupRoute):
        return route
    return replace(route, by_kind={**route.by_kind, GroupKind.CONSUMER: handler})


ROUTES: Routes = {
    **admin.ROUTES,
    **{request: _bridged(request, route) for request, route in classic_routes.ROUTES.items()},
    **kip848_routes.ROUTES,
}
TIMERS: Mapping[TimerKind, TimerHandler] = {
    **admin.TIMERS,
    **classic_routes.TIMERS,
    **kip848_routes.TIMERS,
}
REPLAY: Mapping[type, Replay] = {
    **admin.REPLAY,
    **classic_routes.REPLAY,
    **kip848_routes.REPLAY,
}
AT_ONCE: Mapping[type[Request], AnswerAtOnce] = {**classic_routes.AT_ONCE, **kip848_routes.AT_ONCE}
LIFECYCLE: Mapping[GroupKind, Lifecycle] = {
    GroupKind.CLASSIC: (classic_routes.LOAD, classic_routes.UNLOAD),
    GroupKind.CONSUMER: (kip848_routes.LOAD, kip848_routes.UNLOAD),
}
# (shard, topology before), once the shard has the new one.
ON_TOPOLOGY: tuple[OnTopology, ...] = (delete_topic_offsets, *kip848_routes.ON_TOPOLOGY)
# Records that only a coordinator with server-side assignors can play.
OF_CONSUMER_GROUPS: Final = frozenset(kip848_routes.REPLAY)
