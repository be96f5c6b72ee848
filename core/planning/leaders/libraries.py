"""What the members of each client library show when they join, told apart by it.

What members send differs by library: the version of the subscription, the shape of the assignor's
own bytes, the rack where none is configured.

Source: subscriptions of the libraries' members as a 4.3 broker shows them; KIP-429, KIP-792,
KIP-881 (versions of the subscription).
"""

import re
from collections.abc import Mapping
from typing import Final

from kgroups.assignors.rejoin import COOPERATIVE, STICKY
from kgroups.assignors.wire import decode_sticky_data
from kgroups.core.snapshot import Member

# In the order in which they are taken where nothing else decides.
LIBRARIES: Final = ("java", "librdkafka", "franz-go", "sarama", "kafka-python", "aiokafka")

# Client ids that libraries use where the application sets none.
DEFAULT_CLIENT_IDS: Final[Mapping[str, re.Pattern[str]]] = {
    "java": re.compile(r"consumer-.+-\d+"),
    "librdkafka": re.compile(r"rdkafka"),
    "franz-go": re.compile(r"kgo"),
    "sarama": re.compile(r"sarama"),
    "kafka-python": re.compile(r"kafka-python-.+"),
    "aiokafka": re.compile(r"aiokafka-.+"),
}

EAGER: Final = frozenset({"range", "roundrobin"})
NO_GENERATION: Final = -1

# Version of the subscription -> libraries that send it; Java sent each of them once.
BY_VERSION: Final[Mapping[int, frozenset[str]]] = {
    0: frozenset({"kafka-python", "aiokafka", "java"}),
    1: frozenset({"sarama", "kafka-python", "java"}),
    2: frozenset({"java"}),
    3: frozenset({"java", "librdkafka", "franz-go"}),
}


def libraries_of(member: Member, protocol: str | None) -> frozenset[str]:
    """What client libraries send such a subscription; never empty.

    Args:
        protocol: the strategy whose subscription it is.
    """
    version = member.subscription_version
    if version is None:
        return frozenset(LIBRARIES)
    found = BY_VERSION[min(version, 3)]
    if version >= 3:
        # librdkafka writes an empty rack where Java and franz-go write none.
        found &= {"librdkafka"} if member.rack == "" else {"java", "franz-go", "librdkafka"}
        if member.rack is None:
            found -= {"librdkafka"}
        if protocol in EAGER and (member.generation or NO_GENERATION) != NO_GENERATION:
            found -= {"librdkafka"}  # it sends none for these
    found &= _by_user_data(member.user_data, protocol)
    return found or BY_VERSION[min(version, 3)]


def _by_user_data(data: bytes | None, protocol: str | None) -> frozenset[str]:
    everybody = frozenset(LIBRARIES)
    if protocol == COOPERATIVE:
        if data is None:
            return everybody - {"java", "franz-go", "librdkafka"}
        if len(data) == 4:  # the generation alone
            return frozenset({"java"})
        return frozenset({"librdkafka", "franz-go"}) if data else frozenset({"kafka-python"})
    if protocol == STICKY:
        if data is None:
            return everybody - {"franz-go"}
        runs, _generation = decode_sticky_data(data)
        return everybody - {"franz-go"} if runs else everybody
    return everybody


def named_by_client_id(member: Member) -> str | None:
    """The library whose default client id this is, or None."""
    return next(
        (name for name, form in DEFAULT_CLIENT_IDS.items() if form.fullmatch(member.client_id)),
        None,
    )
