"""The counts of a run of the measure, as tables, and their place in docs/fidelity.md."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kgroups.core.planning.leaders.libraries import RANGE
from tests.support.fidelity.driving import Result
from tests.support.fidelity.libraries import EAGER

PAGE = Path(__file__).parents[3] / "docs" / "fidelity.md"
WORDS = ("exact", "outcomes", "likely", "counts")
HEAD = "| | changes | exact | outcomes | likely | counts | wrong | broken client |"
RULE = "|---|---:|---:|---:|---:|---:|---:|---:|"
PURE, ALL = "one library", "all"
# Why a plan is not exact, and by which words of its own reason that is told; of several the first.
# What nobody can know stands before what members could show.
REASONS = (
    ("what happens may come in one rebalance or in several", ("in several", "one after another")),
    ("the leader chooses at random", ("chooses at random",)),
    ("ids of new members, drawn at random, decide", ("ids that new members", "get new ids")),
    ("the racks in which brokers place new partitions decide", ("racks in which brokers",)),
    ("a member or the leader may be late", ("rejoins late", "may not know a topic")),
    ("members do not show which library they use", ("assign differently", "client libraries")),
    ("members do not show their release or settings", ("release whose", "may choose other")),
    ("there are more ways than were tried", ("tried",)),
)
OTHER = "other"


def judged(results: Iterable[Result]) -> list[Result]:
    """Changes that the clients made as they should."""
    return [each for each in results if each.verdict != "broken"]


def wrong(results: Iterable[Result]) -> list[Result]:
    """Changes of which the plan promised something else."""
    return [each for each in results if each.verdict == "wrong"]


def share(part: Sequence[Result], whole: Sequence[Result]) -> float:
    """Which part of the whole; 1 of nothing."""
    return len(part) / len(whole) if whole else 1.0


def told(result: Result) -> str:
    """One result in a line."""
    place = f"{result.group} {result.label}, {result.protocol}, {result.strategy}, {result.kind}"
    return f"{place}: {result.confidence} of {result.leader}, {result.detail}"


def tables(
    results: Sequence[Result], embedded: Sequence[str], seeds: Sequence[int], release: str
) -> str:
    """Everything that was counted, as Markdown.

    Args:
        embedded: what became of the same changes on the embedded cluster, a word each.
        release: of the real brokers.
    """
    parts = [
        f"{len(results)} changes on Kafka {release}, seeds {', '.join(map(str, seeds))}.",
        _share_table(results),
        _table(results, "confidence", lambda each: each.confidence),
        _table(results, "library", lambda each: each.label),
        _table(results, "strategy", _strategy),
        _table(results, "change", lambda each: each.kind),
    ]
    parts += [*_reason_table(results), *_unaided_table(results)]
    if embedded:
        counts = Counter(embedded)
        rows = "\n".join(f"| {word} | {counts[word]} |" for word in sorted(counts))
        parts.append(f"| embedded cluster | changes |\n|---|---:|\n{rows}")
    return "\n\n".join(parts)


def _reason_table(results: Sequence[Result]) -> list[str]:
    """Why plans were not exact, in groups of one library and in all."""
    doubtful = [each for each in judged(results) if each.confidence != "exact"]
    counts = Counter(reason_of(each.reason) for each in doubtful)
    pure = Counter(reason_of(each.reason) for each in doubtful if each.label != "mixed")
    if not doubtful:
        return []
    head = f"| not exact because | {PURE} | {ALL} |\n|---|---:|---:|"
    rows = [f"| {reason} | {pure[reason]} | {count} |" for reason, count in counts.most_common()]
    return ["\n".join([head, *rows, f"| all | {pure.total()} | {counts.total()} |"])]


def reason_of(told: str) -> str:
    """The first of the reasons that a plan's own words name."""
    found = (reason for reason, words in REASONS if any(word in told for word in words))
    return next(found, OTHER)


def _share_table(results: Sequence[Result]) -> str:
    """How many of the changes were planned exactly, with `--as` and without."""
    made = judged(results)
    lines = ["| exact | changes | told the library | by itself |", "|---|---:|---:|---:|"]
    for name, some in ((PURE, [each for each in made if each.label != "mixed"]), (ALL, made)):
        told = [each for each in some if each.confidence == "exact"]
        alone = [each for each in some if (each.unaided or [each.confidence])[0] == "exact"]
        lines.append(f"| {name} | {len(some)} | {_part(told, some)} | {_part(alone, some)} |")
    return "\n".join(lines)


def _part(some: Sequence[Result], of: Sequence[Result]) -> str:
    return f"{len(some)} ({share(some, of):.1%})"


def _unaided_table(results: Sequence[Result]) -> list[str]:
    """The confidence of plans that are not told the library, and how many of them were wrong."""
    unaided = [each.unaided for each in results if each.unaided is not None]
    if not unaided:
        return []
    lines = ["| not told the library | plans | wrong |", "|---|---:|---:|"]
    for word in sorted({word for word, _ in unaided}):
        verdicts = [verdict for each, verdict in unaided if each == word]
        lines.append(f"| {word} | {len(verdicts)} | {verdicts.count('wrong')} |")
    return ["\n".join(lines)]


def _strategy(result: Result) -> str:
    return f"`{result.strategy}`, {result.protocol}"


def _table(results: Sequence[Result], name: str, key: Callable[[Result], str]) -> str:
    groups: dict[str, list[Result]] = {}
    for each in results:
        groups.setdefault(key(each), []).append(each)
    rows = [_row(place, groups[place]) for place in sorted(groups)]
    return "\n".join([HEAD.replace("| |", f"| {name} |", 1), RULE, *rows, _row("all", results)])


def _row(place: str, results: Sequence[Result]) -> str:
    fine = Counter(each.confidence for each in judged(results))
    numbers = [len(results), *(fine[word] for word in WORDS), len(wrong(results))]
    broken = sum(each.verdict == "broken" for each in results)
    return f"| {place} | {' | '.join(map(str, numbers))} | {broken} |"


def write_page(block: str, release: str) -> None:
    """Put the tables of a run on this release between their marks in the page."""
    write_block(PAGE, f"fidelity-{release}", block)


def write_block(page: Path, mark: str, block: str) -> None:
    """Put a text between the marks of this name in a page."""
    begin, end = f"<!-- {mark}:begin -->", f"<!-- {mark}:end -->"
    text = page.read_text(encoding="utf-8")
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    page.write_text(f"{head}{begin}\n{block}\n{end}{tail}", encoding="utf-8")


def beside_embedded(real: Sequence[Result], embedded: Sequence[Result]) -> list[str]:
    """What became of the same changes on the embedded cluster, beside the real broker.

    `same`; `by chance` where ids of members or topics decide, or the racks in which brokers placed
    partitions, now or in an earlier change of the group; `different` otherwise; `broken client`
    where there is nothing to compare.
    """
    return [word for word, _ in _beside(real, embedded)]


def differences(real: Sequence[Result], embedded: Sequence[Result]) -> list[str]:
    """Changes that ended differently on the embedded cluster without a reason."""
    return [told(each) for word, each in _beside(real, embedded) if word == "different"]


def _beside(real: Sequence[Result], embedded: Sequence[Result]) -> list[tuple[str, Result]]:
    there = {(each.group, each.step): each for each in real}
    words: list[tuple[str, Result]] = []
    parted: set[str] = set()
    for here in embedded:
        other = there.get((here.group, here.step))
        if other is None or here.came is None or other.came is None:
            words.append(("broken client", here))
            continue
        if here.came == other.came:
            words.append(("same", here))
            parted.discard(here.group)
            continue
        exact = {here.confidence, other.confidence} == {"exact"}
        if _is_blind(here) and exact and here.group not in parted:
            words.append(("different", here))
        else:
            words.append(("by chance", here))
        parted.add(here.group)
    return words


def _is_blind(result: Result) -> bool:
    """Whether neither ids nor racks decide: ids of classic members begin with their names."""
    racks = result.strategy == RANGE and result.racked
    return result.protocol == "classic" and result.strategy in EAGER and not racks
