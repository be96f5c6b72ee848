"""What a lag report over captures must say, in plain Python: lists, sorting, sums.

Nothing of the product is used. A figure is what a person would work out of the captures with paper:
rates, ages, peaks from every capture; trend and verdict from at most 61 points, as documented. Of
what is rolled up, ages, trend and verdict see the last row of each series only.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, NamedTuple

from tests.support.lag.odd_history import Capture, Row

KEYS = {
    "group": ("cluster", "group"),
    "topic": ("cluster", "topic"),
    "partition": ("cluster", "group", "topic", "partition"),
    "member": ("cluster", "group", "member_id", "client_id", "host"),
    "client": ("cluster", "client_id"),
    "host": ("cluster", "host"),
    "assignor": ("cluster", "assignor"),
}
SERIES = KEYS["partition"]
MISSING = "UNKNOWN_TOPIC_OR_PARTITION"
LEADERLESS = "LEADER_NOT_AVAILABLE"
STRETCHES = 60
HOUR_MS = 3_600_000
LENGTHS = {"hour": HOUR_MS, "day": 24 * HOUR_MS, "month": 31 * 24 * HOUR_MS}
# The columns that name figures made of roll-ups, and what these are.
LEVELS = {"hourly": "hour", "daily": "day", "monthly": "month"}
Period = tuple[str, int] | None
Figures = dict[str, Any]
Key = tuple[Any, ...]


class Asked(NamedTuple):
    """A report: the grouping, the window (both ends included) and how lag is read."""

    by: str
    since_ms: int
    until_ms: int
    isolation: str = "read_uncommitted"
    uncommitted: str | None = None


def truth(
    captures: Iterable[Capture],
    asked: Asked,
    rolled_up: Callable[[Capture], str | None] = lambda _capture: None,
) -> tuple[dict[Key, Figures], Figures]:
    """The rows of the report by key, and its summary.

    Args:
        rolled_up: by what a capture is rolled up (`LENGTHS`), if it is: each counts as a whole or
            not at all.
    """
    clusters: dict[str, list[Capture]] = defaultdict(list)
    whole = [capture for capture in captures if capture.is_whole]
    for capture in whole:
        capture.period = rolled_into(capture, whole, rolled_up)
    cut = {
        (capture.cluster, capture.period)
        for capture in whole
        if not asked.since_ms <= capture.at_ms <= asked.until_ms
    }
    for capture in whole:
        is_cut = capture.period is not None and (capture.cluster, capture.period) in cut
        if not is_cut and asked.since_ms <= capture.at_ms <= asked.until_ms:
            clusters[capture.cluster].append(capture)
    items: dict[Key, Figures] = {}
    now: list[Figures] = []
    members: list[Figures] = []
    for own in clusters.values():
        own.sort(key=lambda capture: capture.at_ms)
        series = series_now(own, asked)
        held = loads(own[-1], series)
        items |= rows_by(own, series, held, asked)
        now += series
        members += held
    return items, summary_of(now, members)


def rolled_into(
    capture: Capture, whole: Sequence[Capture], rolled_up: Callable[[Capture], str | None]
) -> Period:
    """What a capture is rolled up into.

    A month with captures of one day is that day, a day with captures of one hour that hour.
    """
    length = rolled_up(capture)
    if length is None:
        return None
    own = [other.at_ms for other in whole if other.cluster == capture.cluster]
    for longer, shorter in (("month", "day"), ("day", "hour")):
        alike = {t for t in own if number_of(longer, t) == number_of(longer, capture.at_ms)}
        if length == longer and len({number_of(shorter, t) for t in alike}) == 1:
            length = shorter
    return length, number_of(length, capture.at_ms)


def number_of(length: str, at_ms: int) -> int:
    """The number of the hour, day or month (UTC) that a time is in."""
    if length != "month":
        return at_ms // LENGTHS[length]
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return moment.year * 12 + moment.month


def summary_of(now: Sequence[Figures], members: Sequence[Figures]) -> Figures:
    """The totals."""
    return {
        "groups": len({(s["cluster"], s["group"]) for s in now}),
        "member_count": len(members),
        "idle_members": sum(m["held"] == 0 for m in members),
        "partitions": len(now),
        "lag": total(s["lag"] for s in now),
        "lag_max": most(s["lag"] for s in now),
        "lost": total(s["lost"] for s in now),
        "unknown_partitions": sum(s["lag"] is None for s in now),
        "unowned_partitions": total(s["is_unowned"] for s in now),
        "beyond_end_partitions": sum(s["status"] == "beyond_end" for s in now),
    }


# --- one row of a capture ----------------------------------------------------------------------


def lag_of(row: Row, asked: Asked) -> tuple[int | None, str, int | None]:
    """Lag, status and lost records."""
    committed, start, log_end = (row[f"{n}_offset"] for n in ("committed", "log_start", "log_end"))
    end = log_end if asked.isolation == "read_uncommitted" else row["last_stable_offset"]
    if row["error"] == MISSING:
        return None, "topic_missing", None
    if row["error"] == LEADERLESS:
        return None, "leaderless", None
    if not row["commits_known"]:
        return None, "unknown", None
    if committed is None or committed < 0:
        if asked.uncommitted is None or start is None or end is None:
            return None, "no_commit", None
        return (end - start if asked.uncommitted == "start" else 0), "no_commit", None
    if start is None or end is None or log_end is None:
        return None, "unknown", None
    lag = max(end - max(committed, start), 0)
    if row.get("lag_told") is not None:
        lag = min(lag, max(row["lag_told"] - (log_end - end), 0))
    if committed < start:
        return lag, "below_log_start", start - committed
    return lag, "beyond_end" if committed > log_end else "ok", 0


# --- a partition of a group over the window ----------------------------------------------------


def series_now(own: Sequence[Capture], asked: Asked) -> list[Figures]:
    """Every partition of a group in the newest capture, with what the window says of it."""
    lives: dict[Key, list[Figures]] = defaultdict(list)
    for capture in own:
        for row in capture.rows:
            lag, status, lost = lag_of(row, asked)
            end = row[
                "log_end_offset" if asked.isolation == "read_uncommitted" else "last_stable_offset"
            ]
            fact = {
                **row,
                "lag": lag,
                "status": status,
                "lost": lost,
                "t": capture.at_ms,
                "end": end,
                "start": row["log_start_offset"],
                "committed": row["committed_offset"],
            }
            fact["period"] = capture.period
            lives[tuple(row[k] for k in SERIES)].append(fact)
    # What is rolled up is there when its last capture was taken.
    first_ms = max(
        c.at_ms for c in own if c is own[0] or (c.period is not None and c.period == own[0].period)
    )
    last_ms = own[-1].at_ms
    width = max((last_ms - first_ms) // STRETCHES, 1)
    found = []
    for life in lives.values():
        if life[-1]["t"] == last_ms:
            looks = list(looks_of(life))
            stretches = {(look[-1]["t"] - first_ms) // width: look[-1] for look in looks}
            found.append(figures_of(looks, list(stretches.values())))
    return found


def looks_of(life: Sequence[Figures]) -> Iterator[list[Figures]]:
    """A life in the pieces that are looked at: a capture each, or all of what is rolled up."""
    held: list[Figures] = []
    for fact in life:
        if held and (fact["period"] is None or fact["period"] != held[-1]["period"]):
            yield held
            held = []
        held.append(fact)
    yield held


def figures_of(looks: Sequence[list[Figures]], points: Sequence[Figures]) -> Figures:
    """Rates, times, trend and verdict of one series."""
    life = [fact for look in looks for fact in look]
    now = dict(life[-1])
    produced, now["rate_in"], now["end_ms"] = moved(life, "end")
    consumed, now["rate_out"], _ = moved(life, "committed")
    _, expiry, _ = moved(life, "start")
    now["produced"] = produced
    seconds, method, length = age(looks)
    now |= {"lag_seconds": seconds, "lag_seconds_method": method, "age_of": length}
    now["trend_of"] = longest(fact["period"] for fact in life)
    now["verdict_of"] = longest(fact["period"] for fact in points[-10:])
    # A commit that nobody will move: the topic is gone, or the group reads other things now.
    now["is_unowned"] = None if now["group_state"] in OWNERS_UNTOLD else now["member_id"] is None
    is_left = now["status"] == "topic_missing" or now["group_state"] not in ("Empty", "Dead")
    stood_still = bool(produced) and consumed == 0 and len(life) > 1
    nobodys = now["committed"] is not None and now["member_id"] is None
    now["is_stale"] = nobodys and (is_left or stood_still)
    lags = [fact["lag"] for fact in points if fact["lag"] is not None]
    now["lag_first"], now["lag_last"] = (lags[0], lags[-1]) if lags else (None, None)
    now["verdict"], now["verdict_rule"] = verdict(points, now)
    now["retention"] = None
    if now["lag"] and now["committed"] is not None and expiry:
        now["retention"] = max(now["committed"] - now["start"], 0) / expiry
    now["points"] = len(lags)
    return now


def longest(periods: Iterable[Period]) -> str | None:
    """The longest of what is rolled up; None where nothing is."""
    lengths = {period[0] for period in periods if period is not None}
    return max(lengths, key=LENGTHS.__getitem__, default=None)


def moved(life: Sequence[Figures], name: str) -> tuple[int | None, float | None, int]:
    """Records by which something went ahead, steps back not subtracted; a second; over which ms."""
    known = [(fact["t"], fact[name]) for fact in life if fact[name] is not None]
    if len(known) < 2:
        return None, None, 0
    ahead = sum(max(b - a, 0) for (_, a), (_, b) in pairwise(known))
    ms = known[-1][0] - known[0][0]
    return ahead, ahead * 1000 / ms, ms


def age(looks: Sequence[list[Figures]]) -> tuple[float | None, str | None, str | None]:
    """How long ago the log's end was at the commit, how that is known, and in which roll-up."""
    life = [fact for look in looks for fact in look]
    now = life[-1]
    if now["lag"] is None:
        return None, None, None
    if now["lag"] == 0:
        return 0.0, "at_head", None
    commit = now["committed"]
    ends = [(fact["t"], fact["end"]) for fact in life if fact["end"] is not None]
    if now["status"] == "ok":
        shrank = [t for (_, a), (t, b) in pairwise(ends) if b < a]
        passed = []
        for place, look in enumerate(looks):
            t, b, period = (look[-1][name] for name in ("t", "end", "period"))
            earlier = [fact for old in looks[:place] for fact in old if fact["end"] is not None]
            # Before the oldest roll-up is what it began with.
            earlier = earlier or [fact for fact in look if fact["end"] is not None][:1]
            if b is not None and earlier and earlier[-1]["end"] <= commit < b:
                before, a = earlier[-1]["t"], earlier[-1]["end"]
                at_ms = before + (commit - a) * (t - before) / (b - a)
                passed.append((before, at_ms, longest([period])))
        if passed and (not shrank or passed[-1][0] >= shrank[-1]):
            return (now["t"] - passed[-1][1]) / 1000, "interpolated", passed[-1][2]
        since, length = unread_since(looks, commit)
        if since is not None and since < now["t"]:
            return (now["t"] - since) / 1000, "at_least", length
        return None, None, length
    return None, None, None


def unread_since(looks: Sequence[list[Figures]], commit: int) -> tuple[int | None, str | None]:
    """From when on the record at a commit is known to be there, as far as whole looks tell.

    Also the longest roll-up within which the log's end went back: only its last end counts.
    """
    since, before, resets = None, None, []
    for look in looks:
        ends = [(fact["t"], fact["end"]) for fact in look if fact["end"] is not None]
        if not ends:
            continue
        (first_t, first), (last_t, last) = ends[0], ends[-1]
        if any(b < a for (_, a), (_, b) in pairwise(ends)):
            since = last_t
            resets.append(look[-1]["period"])
        elif before is not None and first < before:
            since = first_t
        elif since is None and last > commit:
            since = first_t if first > commit else last_t
        before = last
    return since, longest(resets)


def trend(first: int | None, last: int | None, produced: int, peak: int | None, points: int) -> Any:
    """growing, steady, draining."""
    if first is None or last is None or points < 2:
        return None
    slack = max(1.0, 0.05 * produced, 0.1 * (peak or 0))
    change = last - first
    return "growing" if change > slack else "draining" if change < -slack else "steady"


def verdict(points: Sequence[Figures], now: Figures) -> tuple[str | None, str]:
    """Burrow's rules on the last ten points, after what needs no history."""
    if now["status"] == "beyond_end":
        return "BEYOND_END", "beyond_log_end"
    waits = now["status"] == "no_commit" and (now["log_end_offset"] or 0) > (now["start"] or 0)
    if waits and now["is_unowned"] and now["group_state"] != "Empty":
        return "STOP", "nobody_reads"
    if now["lag"] is None:
        return None, "lag_unknown"
    if now["lag"] == 0:
        return "OK", "no_lag"
    recent = points[-10:]
    commits = [fact["committed"] for fact in recent if fact["committed"] is not None]
    if len(commits) < 3:
        return None, "too_few_captures"
    is_flat = len(set(commits)) == 1
    ends = [fact["end"] for fact in recent if fact["end"] is not None]
    behind = now["committed"] is not None and all(end > now["committed"] for end in ends)
    if is_flat and now["member_id"] is None and behind:
        return "STOP", "commits_stopped"
    for place, (before, after) in enumerate(pairwise(commits), start=1):
        if after < before:
            if max(commits[place:]) < before:
                return "REWIND", "offset_went_back"
            break
    lags = [fact["lag"] for fact in recent if fact["lag"] is not None]
    if 0 in lags:
        return "OK", "was_at_head"
    if now.get("lag_told") is not None and any(b < a for a, b in pairwise(lags)):
        return "OK", "progresses"
    if is_flat:
        return "STALL", "offset_stands_still"
    if len(lags) > 1 and all(b >= a for a, b in pairwise(lags)):
        return "WARN", "lag_never_falls"
    return "OK", "progresses"


OWNERS_UNTOLD = (None, "PreparingRebalance", "CompletingRebalance")
OF_ONE_LOOK = ("lag_unknown", "no_lag", "nobody_reads", "beyond_log_end")
NO_PARTITIONS = {
    "partitions": 0,
    "unknown_partitions": 0,
    "stale_partitions": 0,
    "unowned_partitions": 0,
    "beyond_end_partitions": 0,
}
BADNESS = (
    "lag_unknown",
    "no_lag",
    "was_at_head",
    "progresses",
    "too_few_captures",
    "lag_never_falls",
    "commits_stopped",
    "nobody_reads",
    "offset_stands_still",
    "offset_went_back",
    "beyond_log_end",
)


# --- rows of the report ------------------------------------------------------------------------


def rows_by(
    own: Sequence[Capture], series: Sequence[Figures], members: Sequence[Figures], asked: Asked
) -> dict[Key, Figures]:
    """The report of one cluster."""
    keys = KEYS[asked.by]
    alike = grouped(series, keys)
    peaks = peaks_by(own, keys, asked)
    items = {key: summed(rows) | peaks[key] for key, rows in alike.items()}
    for key, rows in alike.items():
        first, last = (total(row[f"lag_{n}"] for row in rows) for n in ("first", "last"))
        produced = total(row["produced"] for row in rows) or 0
        points = max(row["points"] for row in rows)
        items[key]["trend"] = trend(first, last, produced, items[key]["lag_peak"], points)
        for name, length in LEVELS.items():
            items[key][name] = names_of(length, rows)
    if asked.by == "member":
        for member in members:
            if not member["held"]:
                key = tuple(member[k] for k in keys)
                items[key] = NO_PARTITIONS | {"lag": 0, "lag_max": 0}
    elif asked.by not in ("topic", "partition"):
        of_members = grouped(members, keys)
        for key in {*items, *of_members}:
            row = items.setdefault(key, dict(NO_PARTITIONS))
            own_members = of_members.get(key, [])
            held = [m["load"] for m in own_members if m["load"] is not None]
            row |= {
                "member_count": len(own_members),
                "idle_members": sum(m["held"] == 0 for m in own_members),
                "skew": max(held) / (sum(held) / len(held)) if sum(held) > 0 else None,
            }
    return items


def names_of(length: str, rows: Sequence[Figures]) -> str | None:
    """Which figures of a row were told by the ends of hours, or of days; None: none was."""
    judged = [row for row in rows if row["verdict_rule"] not in OF_ONE_LOOK]
    names = {
        "lag_seconds": [row["age_of"] for row in rows],
        "trend": [row["trend_of"] for row in rows],
        "verdict": [row["verdict_of"] for row in judged],
    }
    told = (
        name
        for name, lengths in names.items()
        if max(filter(None, lengths), key=LENGTHS.__getitem__, default=None) == length
    )
    return ",".join(told) or None


def summed(rows: Sequence[Figures]) -> Figures:
    """Figures of some series together."""
    lags = sorted(row["lag"] for row in rows if row["lag"] is not None)
    lagging = [row for row in rows if row["lag"]]
    known = lagging or [row for row in rows if row["lag"] == 0]
    ages = [row["lag_seconds"] for row in known]
    worst = max(ages) if ages and None not in ages else None
    methods = {row["lag_seconds_method"] for row in known if row["lag_seconds"] == worst}
    if any(row["lag_seconds_method"] == "at_least" for row in known):
        methods = {"at_least"}  # the oldest may be older than all that is known
    if worst is None:
        methods = {None}
    gains = [
        None if None in (row["rate_in"], row["rate_out"]) else row["rate_out"] - row["rate_in"]
        for row in rows
    ]
    gained = total(gains)
    is_rated = all(gain is not None for gain, row in zip(gains, rows, strict=True) if row["lag"])
    lag = total(row["lag"] for row in rows)
    catch_up = None
    if lag == 0:
        catch_up = 0.0
    elif lag is not None and is_rated and gained is not None:
        came = total(row["rate_in"] for row in rows) or 0.0
        if all(row["rate_in"] and row["lag"] <= max(10, 10 * row["rate_in"]) for row in lagging):
            catch_up = lag / max(gained, came)
        elif gained > 0.01 * came:
            catch_up = lag / gained
    say = max(rows, key=lambda row: BADNESS.index(row["verdict_rule"]))
    return {
        "partitions": len(rows),
        "lag": lag,
        "lag_max": most(row["lag"] for row in rows),
        **{f"lag_p{p}": share_of(lags, p) for p in (50, 95, 99)},
        "lost": total(row["lost"] for row in rows),
        "unknown_partitions": sum(row["lag"] is None for row in rows),
        "stale_partitions": sum(row["is_stale"] for row in rows),
        "unowned_partitions": total(row["is_unowned"] for row in rows),
        "beyond_end_partitions": sum(row["status"] == "beyond_end" for row in rows),
        "rate_in": inflow(rows),
        "rate_out": total(row["rate_out"] for row in rows),
        "lag_seconds": worst,
        "lag_seconds_method": methods,
        "lag_seconds_confidence": {
            None if method is None else "low" if method == "at_least" else "high"
            for method in methods
        },
        "catch_up_seconds": catch_up,
        "verdict": say["verdict"],
        "verdict_rule": say["verdict_rule"],
        "retention_seconds_left": least(row["retention"] for row in rows),
    }


def inflow(rows: Sequence[Figures]) -> Any:
    """Records a second into the partitions, each once, by whoever watched it longest."""
    found: dict[Key, tuple[int, float]] = {}
    for row in rows:
        if row["rate_in"] is not None:
            at = (row["topic"], row["partition"])
            found[at] = max(found.get(at, (0, 0.0)), (row["end_ms"], row["rate_in"]))
    return total(rate for _, rate in found.values())


def peaks_by(own: Sequence[Capture], keys: Sequence[str], asked: Asked) -> dict[Key, Figures]:
    """The most that the lag of a key, and that of one of its partitions, was in any capture."""
    peaks: dict[Key, Figures] = {}
    for capture in own:
        rows = [{**row, "lag": lag_of(row, asked)[0]} for row in capture.rows]
        for key, alike in grouped(rows, keys).items():
            peak = peaks.setdefault(key, {"lag_peak": None, "partition_lag_peak": None})
            lags = [row["lag"] for row in alike]
            peak["lag_peak"] = most([peak["lag_peak"], total(lags)])
            peak["partition_lag_peak"] = most([peak["partition_lag_peak"], *lags])
    return peaks


def loads(newest: Capture, series: Sequence[Figures]) -> list[Figures]:
    """Members of the newest capture with the number of their partitions and the lag of these."""
    held = grouped([s for s in series if s["member_id"] is not None], ("group", "member_id"))
    found = []
    for member in newest.members:
        rows = held.get((member["group"], member["member_id"]), [])
        load = total(row["lag"] for row in rows) if rows else 0
        found.append({**member, "held": len(rows), "load": load})
    return found


# --- sums --------------------------------------------------------------------------------------


def grouped(rows: Iterable[Figures], keys: Sequence[str]) -> dict[Key, list[Figures]]:
    """Rows by key."""
    found: dict[Key, list[Figures]] = defaultdict(list)
    for row in rows:
        found[tuple(row[key] for key in keys)].append(row)
    return found


def _known(values: Iterable[Any]) -> Iterator[Any]:
    return (value for value in values if value is not None)


def total(values: Iterable[Any]) -> Any:
    """Of what is known; None where nothing is."""
    known = list(_known(values))
    return sum(known) if known else None


def most(values: Iterable[Any]) -> Any:
    """Likewise."""
    return max(_known(values), default=None)


def least(values: Iterable[Any]) -> Any:
    """Likewise."""
    return min(_known(values), default=None)


def share_of(ordered: Sequence[int], percent: int) -> int | None:
    """The least value that so many percent of them do not exceed."""
    return ordered[math.ceil(len(ordered) * percent / 100) - 1] if ordered else None
