"""Changes to configurations of groups that cannot be planned."""

import pytest

from kgroups.core.errors import NotFoundError
from kgroups.core.offsets.group_settings import Setting, plan_settings

THERE = {"share.delivery.count.limit": Setting("5", "default")}


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        (
            "errors.deadletterqueue.topic.name",
            "the brokers have no group configuration `errors.deadletterqueue.topic.name`",
            "Kafka 4.4 has it; `kgroups config GROUP --all` lists theirs",
        ),
        (
            "share.delivery.count.limits",
            "no such group configuration: `share.delivery.count.limits`",
            "did you mean `share.delivery.count.limit`?",
        ),
    ],
    ids=["a later Kafka has it", "misspelt"],
)
def test_configurations_that_are_not_there(name: str, message: str, hint: str) -> None:
    """What a later release has is told apart from what none has."""
    with pytest.raises(NotFoundError) as caught:
        plan_settings("g", THERE, {name: "1"}, "share")
    assert (caught.value.message, caught.value.hint) == (message, hint)
