"""A table of our assignors' times over sizes: `python -m bench.assignor_growth`.

Processor time, so that a busy machine does not disturb the comparison. Ten times the partitions
should cost about ten times the time, and a small group next to nothing.
"""

from bench.assignor_child import measure
from bench.assignor_groups import Shape

SIZES = ((3, 10, 10), (10, 100, 50), (100, 100, 200), (100, 1_000, 2_000), (1_000, 1_000, 2_000))
ROWS = (
    ("range", "fresh"),
    ("roundrobin", "fresh"),
    ("sticky", "fresh"),
    ("sticky", "swap"),
    ("cooperative-sticky", "swap"),
    ("sticky", "mixed"),
    ("sticky", "mixed,swap"),
    ("server-uniform", "fresh"),
    ("server-uniform", "swap"),
    ("server-range", "fresh"),
)


def main() -> None:
    """Print the table: milliseconds of processor time a call, warm."""
    heads = [f"{topics * parts:,} x {members:,}" for topics, parts, members in SIZES]
    print(f"| strategy | {' | '.join(heads)} |")
    print("|---" * (len(SIZES) + 1) + "|")
    for strategy, mode in ROWS:
        cells = [
            f"{measure(Shape(strategy, topics, parts, members, mode), 3)['cpu_ms']} ms"
            for topics, parts, members in SIZES
        ]
        print(f"| {strategy}, {mode} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
