"""Operations of short scripts, as JSON: all of them are about group g."""

from collections.abc import Mapping

from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.subscription_base64 import subscription

SENDER = {"client_id": "c", "host": "10.0.0.1"}
NAMES_T = subscription(["t"], version=0)
IDS = {
    "t": "G4Ts-KeIE7qQ7Q38Bj4Iqg",
    "u": "FwL_aBx5qpfQ77mqddshVw",
    "foo0": "LDz-eOD-dfSvbreazd8M-g",
    "foo1": "XMBbUf-SjF1GrMyMCWAoNw",
}


def config(**properties: str) -> Json:
    """A new coordinator; `_` stands for `.` in the names."""
    return {
        "op": "config",
        "config": {name.replace("_", "."): value for name, value in properties.items()},
    }


def topics(**partitions: int) -> Json:
    """Topics are made."""
    made = {name: {"id": IDS[name], "partitions": count} for name, count in partitions.items()}
    return {"op": "topics", "topics": made}


def heartbeat(member_id: str, epoch: int, **fields: object) -> Json:
    """A heartbeat; with names it is a full one."""
    full = "subscribedTopicNames" in fields
    request = {
        "groupId": "g",
        "memberId": member_id,
        "memberEpoch": epoch,
        "rebalanceTimeoutMs": 30_000 if full else -1,
        "topicPartitions": [] if full else None,
        **fields,
    }
    return {"op": "consumer_heartbeat", "version": 1, **SENDER, "request": request}


def join(metadata: str = NAMES_T, member_id: str = "", instance_id: str | None = None) -> Json:
    """A JoinGroup; a static member's version is 5."""
    request = {
        "groupId": "g",
        "sessionTimeoutMs": 45_000,
        "rebalanceTimeoutMs": 45_000,
        "memberId": member_id,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": metadata}],
    }
    if instance_id is not None:
        request["groupInstanceId"] = instance_id
    version = 3 if instance_id is None else 5
    return {"op": "join", "version": version, "id": "r1", **SENDER, "request": request}


def sync(member_id: str, given: Mapping[str, str], generation: int = 1) -> Json:
    """A SyncGroup; a leader's has an assignment for each member."""
    request = {
        "groupId": "g",
        "generationId": generation,
        "memberId": member_id,
        "assignments": [{"memberId": name, "assignment": held} for name, held in given.items()],
    }
    return {"op": "sync", "version": 2, "id": "r2", **SENDER, "request": request}


def leave(member_id: str) -> Json:
    """A classic member leaves."""
    request = {"groupId": "g", "members": [{"memberId": member_id, "groupInstanceId": None}]}
    return {"op": "leave", "version": 3, **SENDER, "request": request}
