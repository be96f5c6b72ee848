"""The questions of one report: files of `sql/`, with its keys and parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from kgroups.core.lag.engines import Asked, Engine, Frame, listed, question, quoted
from kgroups.core.lag.group_lag import OWNERS_UNTOLD
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.report_columns import LEVELS
from kgroups.core.lag.rules import LEADERLESS_ERRORS, MISSING_ERRORS

READERS: Final = """(
    SELECT
      *,
      CASE WHEN row_number() OVER (
        PARTITION BY {keys}, cluster, topic, partition
        ORDER BY CASE WHEN rate_in IS NOT NULL THEN end_ms END DESC NULLS LAST,
          rate_in DESC NULLS LAST
      ) = 1 THEN rate_in END AS inflow
    FROM {series}
  )"""
"""Series with a partition's `rate_in` once (`inflow`), where several groups may read it.

All see the same log; the one that was there longest saw most of it.
"""
AGE_WEIGHT: Final = "CASE WHEN lag > 0 THEN lag_seconds ELSE lag_seconds - 1e0 END"
"""By which the oldest is found: what is at the head counts only where nothing lags."""
BESIDE_PEAKS: Final = "\nLEFT JOIN {peaks} AS peaks ON key <=> peaks.peak_key"
NO_PEAKS: Final = """,
    CAST(NULL AS BIGINT) AS lag_peak,
    CAST(NULL AS BIGINT) AS partition_lag_peak"""
NO_LEVELS: Final = ", ".join(f"CAST(NULL AS STRING) AS {name}" for name in LEVELS)
"""What is not of a roll-up."""


@dataclass(frozen=True, slots=True)
class Questions:
    """Asks an engine.

    Args:
        keys: of the rows of the report: `{keys}` in the text, and `{key}` as one value.
        parameters: of which each text is given those that it names.
    """

    engine: Engine
    keys: Sequence[str]
    parameters: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, engine: Engine, query: LagQuery, keys: Sequence[str], **more: Any) -> "Questions":
        """Those of a report."""
        parameters = {
            "by": query.by,
            "isolation": query.isolation,
            "uncommitted": query.uncommitted,
            "missing": sorted(MISSING_ERRORS),
            "leaderless": sorted(LEADERLESS_ERRORS),
            "owners_untold": sorted(OWNERS_UNTOLD),
        }
        return cls(engine, keys, parameters | more)

    def ask(self, name: str, texts: Mapping[str, str] | None = None, **sources: Frame) -> Frame:
        """The answer to a file of `sql/`.

        Args:
            texts: what else stands in the place of `{name}`.
        """
        return self.put(question(name), texts, **sources)

    def by_key(self, series: Frame, peaks: Frame | None, levels: str = NO_LEVELS) -> Frame:
        """The figures of series by the keys of the report.

        Args:
            peaks: from peaks.sql; None: they are not known.
            levels: expressions for `LEVELS`.
        """
        texts = {"levels": levels, "beside_peaks": BESIDE_PEAKS, "no_peaks": ""}
        if peaks is not None:
            return self.ask("by_key", texts, series=series, peaks=peaks)
        texts |= {"beside_peaks": "", "no_peaks": NO_PEAKS}
        return self.ask("by_key", texts, series=series)

    def put(self, text: str, texts: Mapping[str, str] | None = None, **sources: Frame) -> Frame:
        """The answer to a query."""
        for name, content in {**self._texts(), **(texts or {})}.items():
            text = text.replace(f"{{{name}}}", content)
        return Asked(text, self.parameters, sources)

    def _texts(self) -> dict[str, str]:
        """The keys; as one value, in which unknown equals unknown; of either side of a join."""
        fields = (f"'{name}', {quoted(name)}" for name in self.keys)
        either = (
            f"coalesce(key, spread_key).{quoted(name)} AS {quoted(name)}" for name in self.keys
        )
        are_apart = "group" in self.keys
        return {
            "readers": "{series}" if are_apart else READERS,
            "inflow": "rate_in" if are_apart else "inflow",
            "age_weight": AGE_WEIGHT,
            "keys": listed(self.keys),
            "key": f"named_struct({', '.join(fields)})",
            "keys_of_sums": ", ".join(f"sums.{quoted(name)}" for name in self.keys),
            "keys_of_either": ", ".join(either),
        }

    def together(self, frames: Mapping[str, Frame]) -> dict[str, pa.Table]:
        """The rows of some bounded frames, by one query: each job and each plan costs some time.

        Raises:
            WrongSql: one of them is not understood.
        """
        sources = {f"part_{number}": frame for number, frame in enumerate(frames.values())}
        halves = []
        for own in sources:
            cells = (f"{'struct(part.*)' if name == own else 'NULL'} AS {name}" for name in sources)
            halves.append(f"SELECT {', '.join(cells)} FROM {{{own}}} AS part")
        answer = self.engine.fetch(self.put(" UNION ALL ".join(halves), None, **sources))
        return {
            name: pa.Table.from_struct_array(answer[part].drop_null())
            for name, part in zip(frames, sources, strict=True)
        }
