"""Commits and their deletion, sent, and looked for where no answer tells what became of them."""

from collections.abc import Mapping
from contextlib import suppress

from kgroups.cli.interruption import Interruption, not_waited_for
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.doubts import WRITING
from kgroups.core.kafka.writes.commit_reads import read_until
from kgroups.core.kafka.writes.group_writes import write_and_read
from kgroups.core.offsets.change import Key
from kgroups.core.offsets.read_back import Held
from kgroups.core.offsets.result import Doubt
from kgroups.core.snapshot import CommittedOffset, TopicPartition

Answers = dict[Key, ItemError | None]


def commit(
    admin: ClusterAdmin,
    wanted: Mapping[str, Mapping[TopicPartition, CommittedOffset | None]],
    interruption: Interruption,
) -> Answers:
    """Outcome for each commit: an error, or None when it was done; a `Doubt` is not known.

    Args:
        wanted: group to partition to its new commit; None deletes the commit.
        interruption: a second Ctrl-C does not wait for the answer.
    """
    until = admin.ends()
    writing = until.part(WRITING)
    sent = interruption.send(lambda: write_and_read(admin, wanted, (), writing)[0])
    if sent is None:
        return {
            (group, *at): not_waited_for(f"{group} {at[0]}-{at[1]}")
            for group, commits in wanted.items()
            for at in commits
        }
    answers = sent

    def take(held: Mapping[str, Held | None]) -> list[str]:
        return [
            group
            for group, commits in held.items()
            if commits is None or _is_open(answers, group, commits, wanted[group])
        ]

    doubtful = {key[0] for key, error in answers.items() if isinstance(error, Doubt)}
    with suppress(KgroupsError):
        interruption.look(lambda: read_until(admin, sorted(doubtful), take, until), None)
    return answers


def _is_open(
    answers: Answers,
    group: str,
    commits: Held,
    wanted: Mapping[TopicPartition, CommittedOffset | None],
) -> bool:
    """Put what is seen of a group into the answers; whether something is still not known."""
    is_open = False
    for at, commit_ in wanted.items():
        error = answers[group, *at]
        if not isinstance(error, Doubt):
            continue
        committed = commits.get(at[0], {}).get(at[1])
        is_there = (committed and committed.offset) == (commit_ and commit_.offset)
        answers[group, *at] = None if is_there else error.refuted
        is_open = is_open or isinstance(answers[group, *at], Doubt)
    return is_open
