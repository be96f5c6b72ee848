"""A page with every kind of figure, and names that would break a careless one."""

from kgroups.cli.pages.charts import bars, heat_map, lines, shares, spans
from kgroups.cli.pages.page import Page, Section, Table

START_MS = 1_763_700_000_000
EVIL = "</script><script>throw 1</script>"
GROUPS = ("orders-app", "payments-app", "a-group-with-a-name-of-" + "n" * 80, EVIL)


def sample_page() -> Page:
    """One of each, with unknown values and long names."""
    over_time = [
        (START_MS + 60_000.0 * minute, group, None if minute == 7 else minute * (place + 1.0))
        for place, group in enumerate(GROUPS)
        for minute in range(30)
    ]
    partitions = [
        (group, number, None if number == 3 else number * 10.0)
        for group in GROUPS
        for number in range(40)
    ]
    members = [(group, f"member-{n}", 10.0 * n) for group in GROUPS for n in range(1, 5)]
    owners = [("orders-0", 0.0, 4.0, "a"), ("orders-0", 4.0, 9.0, "b"), (EVIL, 0.0, 9.0, EVIL)]
    figures = (
        lines("Lag over time", "It grows.", over_time, unit="records", kind="group"),
        heat_map("Partitions", "3 is not known.", partitions, unit="records", lane="group",
                 column="partition"),
        shares("Members", "Uneven.", members, unit="lag", lane="group", part="member"),
        bars("Verdicts", "One stopped.", [("OK", 3), ("STOP", 1)], unit="groups", lane="verdict"),
        spans("Owners", "It moved.", owners, lane="partition", kind="member"),
    )  # fmt: skip
    rows = Table(("group", "lag", "share"), [(EVIL, 1_234, 0.5), ("b", None, None)], "Groups", 7)
    return Page(
        f"Lag <report> {EVIL}",
        "cluster & one hour",
        (Section("Charts", figures, "All of them."), Section("Rows", (rows,))),
        facts=(("groups", "4"), ("lag", "1,234")),
        notes=(f"`{'x' * 200}` is cut off",),
    )
