"""Libraries of members that do not show theirs, as far as it makes a difference which they are.

Members whose bytes fit several libraries say what they have as any of these would: where a group is
mixed, where Java would have had to send what franz-go always does, and where a sticky member that
has just joined has said nothing yet and nobody named the library, each of them is tried.
"""

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Final

from kgroups.assignors.other_clients.rejoins import PLAIN, REJOIN_FORMS
from kgroups.assignors.rejoin import COOPERATIVE, STICKY
from kgroups.core.planning.assignor_request import was_told_nothing
from kgroups.core.planning.leaders.libraries import LIBRARIES, Form, form_of
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.visible_order import STICKY_FAMILY
from kgroups.core.planning.roster import Roster

MOST_LIBRARIES: Final = 27


def hides_libraries(roster: Roster, strategy: Strategy) -> bool:
    """Whether it makes a difference which libraries members use that do not show theirs."""
    return len(list(islice(hidden_libraries(roster, strategy), 2))) > 1


def hides_claims(roster: Roster, strategy: Strategy) -> bool:
    """Whether it is not known if the leader can see what members will have.

    A cooperative franz-go leader takes what is owned from subscriptions with a generation, and else
    from user data like its own. sarama's members have neither when they are told that brokers are
    of a time before generations, which a member that is to join does not show.

    Source: franz-go, kgo/internal/sticky, parseMemberMetadata.
    """
    if strategy.leader_client != "franz-go" or strategy.assignor.name != COOPERATIVE:
        return False
    return any(seat.joins and seat.library == "sarama" for seat in roster.seats)


def hidden_libraries(roster: Roster, strategy: Strategy) -> Iterator[Mapping[str, str]]:
    """Member id to library: each combination that matters, the leader's own library first."""
    name, leader = strategy.assignor.name, strategy.leader_client
    if leader is None or name not in STICKY_FAMILY or name != roster.group.assignor:
        yield {}
        return
    staying = [seat.member for seat in roster.seats if not seat.joins]
    possible = {m.member_id: roster.evidence.libraries[m.member_id] for m in staying}
    mixed = any(leader not in libraries for libraries in possible.values())
    options: dict[str, list[str]] = {}
    for member in staying:
        libraries = possible[member.member_id]
        default = (
            leader if leader in libraries else next(lib for lib in LIBRARIES if lib in libraries)
        )
        odd = default == "java" and form_of(member.user_data) is Form.NOTHING
        mute = name == STICKY and "sarama" in libraries and was_told_nothing(member)
        silent = name == STICKY and form_of(member.user_data) is Form.EMPTY
        fresh = silent and not strategy.said
        if mixed or odd or mute or fresh:
            options[member.member_id] = _unlike_forms(default, libraries, name, mute=mute)
    options = {member: choices for member, choices in options.items() if len(choices) > 1}
    for chosen in product(*options.values()):
        yield dict(zip(options, chosen, strict=True))


def _unlike_forms(
    default: str, libraries: frozenset[str], strategy: str, *, mute: bool
) -> list[str]:
    """Of these libraries one for each way of saying what a member has, the default first."""
    ways: dict[object, str] = {_way(default, strategy, mute=mute): default}
    for library in sorted(libraries):
        ways.setdefault(_way(library, strategy, mute=mute), library)
    return list(ways.values())


def _way(library: str, strategy: str, *, mute: bool) -> object:
    """How a library's members say what they have; sarama's do it as Java's, or are mute."""
    if library == "sarama" and mute:
        return library
    if library in ("java", "sarama"):
        return "java"
    return REJOIN_FORMS.get((library, strategy), PLAIN)
