"""`-o openmetrics`: figures for Prometheus, on stdout or in a file for node_exporter.

Every family is a gauge without timestamps, so that the text is OpenMetrics 1.0 and the older text
format at once: node_exporter's textfile collector reads only that one.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from kgroups.cli.usage import option

FORM: Final = "openmetrics"
METRICS: Final = (FORM,)
"""The figures for Prometheus that a command passes to its `Printer`."""

TextFile = Annotated[Path | None, option("--textfile FILE", "Write -o openmetrics to this file.")]

Labels = Mapping[str, str | int | None]


class Sample(NamedTuple):
    """One figure.

    Args:
        family: name of the metric.
        labels: None and empty values are left out, which means the same to Prometheus.
        value: None is not known, and left out.
    """

    family: str
    labels: Labels
    value: float | bool | None


def metrics_text(samples: Iterable[Sample], families: Mapping[str, str]) -> str:
    """The samples in the order of their families; of equal labels the first one.

    Args:
        families: what each means, by name; one that is missing is described by its name.
    """
    values: dict[str, dict[str, float | bool]] = {}
    for sample in samples:
        if sample.value is not None:
            values.setdefault(sample.family, {}).setdefault(_labels(sample.labels), sample.value)
    order = {name: number for number, name in enumerate(families)}
    names = sorted(values, key=lambda name: (order.get(name, len(order)), name))
    lines = (line for name in names for line in _lines(name, families.get(name), values[name]))
    return "".join(f"{line}\n" for line in (*lines, "# EOF"))


def _lines(name: str, text: str | None, values: Mapping[str, float | bool]) -> Iterator[str]:
    words = name.removeprefix("kgroups_").replace("_", " ")
    yield f"# HELP {name} {_escaped(text or f'{words[:1].upper()}{words[1:]}.')}"
    yield f"# TYPE {name} gauge"
    if name.endswith("_seconds"):
        yield f"# UNIT {name} seconds"
    for labels, value in values.items():
        yield f"{name}{labels} {int(value) if isinstance(value, bool) else value!r}"


def _labels(labels: Labels) -> str:
    pairs = (
        f'{name}="{_escaped(str(value))}"'
        for name, value in labels.items()
        if value not in (None, "")
    )
    text = ",".join(pairs)
    return f"{{{text}}}" if text else ""


def _escaped(text: str) -> str:
    whole = text.encode(errors="backslashreplace").decode()  # half a surrogate is no UTF-8
    return whole.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
