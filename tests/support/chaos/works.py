"""The kinds of work that are disturbed: a line each, what it makes of a state, what finishes it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from tests.support.chaos.state import Commit, Key, State, is_commit, is_member

FIRST, SECOND, RECORDS = "orders", "bills", "records"
PARTITIONS: Final = {FIRST: 4, SECOND: 2}
RECORD_LOGS: Final = 3
CREW = "crew"
SHIFT, BACK, AIM, STEP = 7, -5, 3, 2

Plan = Callable[[State], State]
Given = Literal["", "saved", "reset", "half"]


@dataclass(frozen=True)
class Work:
    """One kind of write.

    Args:
        line: its words; `{undo}`: an undo file, `{plan}`: a saved plan, `{before}`: an offset.
        plan: the state that it makes of one, of that before the setup where there is one. Commits
            that it writes are offsets alone, but for those that it restores.
        given: what is there before: a saved plan of `setup`, the groups after it with its undo
            file (`reset`), or every other one of them put back by somebody (`half`).
        setup: words of that.
        again: the same line finishes it; otherwise `reset-offsets --resume` does.
        keeps_undo: it saves what it replaces.
        ends_resumed: exit codes of what finishes it.
        is_shift: done twice it comes to something else.
        follows_commits: it writes to the partitions that were committed, and to no others.
        takes_members: members of the groups are in its way.
        past_drift: words that let it leave out the rows of a topic that is another one now.
    """

    line: str
    plan: Plan
    given: Given = ""
    setup: str = ""
    again: bool = False
    keeps_undo: bool = True
    ends_resumed: tuple[int, ...] = (0,)
    is_shift: bool = False
    follows_commits: bool = True
    takes_members: bool = True
    past_drift: str = ""


def is_ours(group: str) -> bool:
    """Whether a group is one of those that the lines name."""
    return group.startswith("group-")


def _rows(state: State) -> dict[Key, Commit]:
    """The commits of the groups that the lines name."""
    return {
        key: value
        for key, value in state.items()
        if is_commit(key) and is_ours(key[0]) and isinstance(value, Commit)
    }


def _shifted(by: int) -> Plan:
    return lambda state: {
        **state,
        **{key: commit.offset + by for key, commit in _rows(state).items()},
    }


def _aimed(state: State) -> State:
    return {**state, **{key: AIM for key in _rows(state) if key[1] == FIRST}}


def _copied(state: State) -> State:
    copies: dict[Key, Commit | int] = {
        (key[0].replace("group-", "copy-"), *key[1:]): commit.offset
        for key, commit in _rows(state).items()
    }
    return {**state, **copies}


def _without_bills(state: State) -> State:
    gone = {key for key in _rows(state) if key[1] == SECOND}
    return {key: value for key, value in state.items() if key not in gone}


def _without_groups(state: State) -> State:
    return {key: value for key, value in state.items() if not is_ours(key[0])}


def _truncated(state: State) -> State:
    starts = {key: value for key, value in state.items() if not key[0] and isinstance(value, int)}
    return {**state, **dict.fromkeys(starts, next_start(state))}


def next_start(state: State) -> int:
    """Where the logs are to start after the next deletion of records."""
    return STEP + max(
        value for key, value in state.items() if not key[0] and isinstance(value, int)
    )


def _deserted(state: State) -> State:
    return {key: value for key, value in state.items() if not is_member(key)}


_RESET = "reset-offsets 'group-*' --all-topics"
WORKS: Final = {
    "reset by a shift": Work(f"{_RESET} --to +{SHIFT}", _shifted(SHIFT), is_shift=True),
    "reset to an offset": Work(
        f"reset-offsets 'group-*' --topic {FIRST} --to {AIM}", _aimed, follows_commits=False
    ),
    "copy-offsets": Work("copy-offsets --from 'group-*' --to 'copy-*'", _copied),
    "delete-offsets": Work(f"delete-offsets 'group-*' --topic {SECOND}", _without_bills),
    "apply a reset": Work(
        "apply {plan}",
        _shifted(BACK),
        given="saved",
        setup=f"{_RESET} --to {BACK}",
        again=True,
        past_drift="--drift skip",
    ),
    "undo": Work(
        "reset-offsets --undo {undo}",
        lambda state: state,
        given="reset",
        setup=f"{_RESET} --to +{SHIFT}",
    ),
    "resume": Work(
        "reset-offsets --resume {undo}",
        _shifted(SHIFT),
        given="half",
        setup=f"{_RESET} --to +{SHIFT}",
    ),
    "delete": Work(
        "delete 'group-*'",
        _without_groups,
        again=True,
        keeps_undo=False,
        ends_resumed=(0, 5),
        follows_commits=False,
    ),
    "apply a delete": Work(
        "apply {plan}",
        _without_groups,
        given="saved",
        setup="delete 'group-*'",
        again=True,
        keeps_undo=False,
        follows_commits=False,
    ),
    "delete-records": Work(
        f"delete-records {RECORDS} --before {{before}}",
        _truncated,
        again=True,
        keeps_undo=False,
        follows_commits=False,
        takes_members=False,
    ),
    "remove-members": Work(
        f"remove-members {CREW} --all",
        _deserted,
        again=True,
        keeps_undo=False,
        ends_resumed=(0, 5),
        follows_commits=False,
        takes_members=False,
    ),
}
