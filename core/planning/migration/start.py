"""What a move to the other protocol starts from: who asks for which assignor, what is assumed."""

from collections.abc import Iterator, Mapping

from kgroups.assignors.registry import SERVER_ASSIGNORS
from kgroups.core.errors import UsageError
from kgroups.core.planning.leaders.libraries import RANGE, SPEAKERS
from kgroups.core.planning.migration.broker_rules import POLICY, BrokerRules
from kgroups.core.planning.migration.rehearsal import Terms
from kgroups.core.snapshot import Group, MemberProtocol, Topic


def terms_of(group: Group, protocol: MemberProtocol, assignor: str | None) -> Terms:
    """What the members of a group use before it moves.

    Args:
        protocol: to which it goes.
        assignor: what the members use then; None: not said.
    """
    if protocol == "classic":
        strategy = assignor or RANGE
    else:
        strategy = (group.assignor if group.type == "classic" else None) or RANGE
    asked = {
        member.member_id: group.assignor
        for member in group.members or ()
        if group.type == "consumer" and member.member_protocol == "consumer"
    }
    return Terms(strategy, asked)


def check_assignor(name: str | None, protocol: MemberProtocol, rules: BrokerRules) -> None:
    """Refuse an assignor that members cannot use after the move.

    Raises:
        UsageError: brokers, or clients on the way back, do not have it.
    """
    default = rules.config.consumer_assignors[0]
    if name is None and protocol == "consumer" and default not in SERVER_ASSIGNORS:
        raise UsageError(
            f"the brokers assign by `{default}`, which kgroups does not have",
            hint=f"choose another one with `--assignor`: {', '.join(SERVER_ASSIGNORS)}",
            code="UNKNOWN_ASSIGNOR",
        )
    if name is None:
        return
    known = rules.config.consumer_assignors if protocol == "consumer" else tuple(SPEAKERS)
    if name not in known:
        side = "brokers have" if protocol == "consumer" else "clients have"
        raise UsageError(
            f"{side} no assignor `{name}`",
            hint="known: " + ", ".join(known),
            code="UNKNOWN_ASSIGNOR",
        )


def guesses_of(
    group: Group,
    topics: Mapping[str, Topic],
    protocol: MemberProtocol,
    assignor: str | None,
    rules: BrokerRules,
) -> Iterator[str]:
    """What has to be taken for granted, a clause each."""
    if rules.unknown is not None:
        policy = rules.config.consumer_migration_policy
        yield f"{rules.unknown}: `{POLICY}` is assumed to be {policy}, Kafka's default"
    read = sorted({name for m in group.members or () for name in m.subscription or ()})
    nameless = [name for name in read if name in topics and topics[name].topic_id is None]
    if nameless and len(read) > 1:
        yield (
            f"the coordinator orders topics by id, and the ids of {', '.join(nameless)} are unknown"
        )
    if protocol == "classic" and assignor is None:
        yield (
            "the assignor of the classic members is unknown: `range` is assumed, the default of"
            " Java and librdkafka; choose one with `--assignor`"
        )
