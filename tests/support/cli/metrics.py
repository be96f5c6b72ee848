"""What the Prometheus client's own parsers read in figures."""

from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

Series = tuple[str, frozenset[tuple[str, str]]]


def read_metrics(text: str) -> dict[Series, float]:
    """Every series of a text with its value; each is there once, has no time, and is a gauge.

    Both parsers have to read the same: that of OpenMetrics, and that of the older text format,
    which node_exporter's textfile collector reads.
    """
    found: dict[Series, float] = {}
    families = list(read_openmetrics(text))  # type: ignore[no-untyped-call]
    for family in families:
        assert (family.type, bool(family.documentation)) == ("gauge", True), family
        for sample in family.samples:
            assert (sample.name, sample.timestamp) == (family.name, None)
            series = (sample.name, frozenset(sample.labels.items()))
            assert series not in found, series
            found[series] = float(sample.value)
    older = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in read_text(text)
        for sample in family.samples
    }
    assert older == found
    assert [family.name for family in read_text(text)] == [family.name for family in families]
    return found


def series(name: str, **labels: str) -> Series:
    """A series as `read_metrics` has it."""
    return name, frozenset(labels.items())
