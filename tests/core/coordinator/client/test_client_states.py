"""The client half's tables: complete and consistent."""

from itertools import product

import pytest

from kgroups.core.coordinator.client.classic.states import (
    AGENDAS,
    BEATING,
    CLIENT_OUTCOMES,
    NEEDS_COORDINATOR,
    REACTIONS,
    ClientAct,
    ClientAsk,
    ClientState,
    reaction_to,
)
from kgroups.core.coordinator.client.reactions import Api, Reaction
from kgroups.core.protocol.errors import ErrorCode

GOING = {ClientAct.GO, ClientAct.FORGET_AND_GO}

# Rows that must hold whatever else changes: the errors that every member of a group meets.
EXPECTED = [
    (Api.JOIN, 14, Reaction.RETRY),
    (Api.JOIN, 15, Reaction.FIND),
    (Api.JOIN, 16, Reaction.FIND),
    (Api.JOIN, 25, Reaction.FORGET_MEMBER),
    (Api.JOIN, 79, Reaction.TAKE_ID),
    (Api.JOIN, 23, Reaction.FATAL),
    (Api.JOIN, 26, Reaction.FATAL),
    (Api.JOIN, 81, Reaction.FATAL),
    (Api.SYNC, 16, Reaction.FIND),
    (Api.SYNC, 22, Reaction.FORGET_GENERATION),
    (Api.SYNC, 25, Reaction.FORGET_MEMBER),
    (Api.SYNC, 27, Reaction.REJOIN),
    (Api.HEARTBEAT, 16, Reaction.FIND),
    (Api.HEARTBEAT, 22, Reaction.FORGET_GENERATION),
    (Api.HEARTBEAT, 25, Reaction.FORGET_MEMBER),
    (Api.HEARTBEAT, 27, Reaction.REJOIN),
    (Api.COMMIT, 12, Reaction.GIVE_UP),
    (Api.COMMIT, 27, Reaction.REJOIN),
    (Api.LEAVE, 25, Reaction.GIVE_UP),
    *[(api, 82, Reaction.FATAL) for api in Api if api is not Api.LEAVE],
]


def test_every_state_has_an_outcome_for_everything_that_can_come() -> None:
    """The table has an entry for every pair."""
    assert {(ask, state) for ask, row in CLIENT_OUTCOMES.items() for state in row} == set(
        product(ClientAsk, ClientState)
    )


def test_an_outcome_names_the_next_state_exactly_when_it_goes_there() -> None:
    """Every state but the first is reached, and nothing follows the last."""
    outcomes = [one for row in CLIENT_OUTCOMES.values() for one in row.values()]
    assert all((one.to is not None) == (one.act in GOING) for one in outcomes)
    assert {one.to for one in outcomes if one.to is not None} == set(ClientState)
    assert {row[ClientState.CLOSED].act for row in CLIENT_OUTCOMES.values()} == {ClientAct.IGNORE}


def test_the_end_of_a_states_steps_leads_on() -> None:
    """No agenda ends in a state that ignores its end."""
    for state, (steps, end) in AGENDAS.items():
        assert steps
        assert CLIENT_OUTCOMES[end][state].act is ClientAct.GO
    assert BEATING < NEEDS_COORDINATOR


def test_every_state_can_be_closed() -> None:
    """Close leads to leaving from everywhere that is not on that way already."""
    row = CLIENT_OUTCOMES[ClientAsk.CLOSE]
    staying = {state for state in ClientState if row[state].to is not ClientState.LEAVING}
    assert staying == {ClientState.LEAVING, ClientState.CLOSED}


@pytest.mark.parametrize(("api", "code", "reaction"), EXPECTED)
def test_an_error_means_what_kafkas_client_makes_of_it(
    api: Api, code: int, reaction: Reaction
) -> None:
    """The errors of a group's life, by request."""
    assert reaction_to(api, ErrorCode(code)) is reaction


def test_every_answer_has_a_way_on_without_error() -> None:
    """NONE proceeds everywhere."""
    assert {row[ErrorCode.NONE] for row in REACTIONS.values()} == {Reaction.PROCEED}
