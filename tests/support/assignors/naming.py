"""Random names, sizes and racks for oracle cases; hostile ones among them."""

import uuid
from collections.abc import Callable
from random import Random

from kgroups.assignors.order.java_order import spread, string_hash

ODD: tuple[str, ...] = (
    *("é", "ß-app", "日本", "кафка", "😀", "𐀀z", "\uffee", "\ue000", "ﬀ", "Ω"),
    *("\u00a0", "a\u0301", "~", "!", "Z", "_"),
)
WORDS = (
    *("orders", "payments", "clicks", "users", "audit", "logs", "a", "b", "B", "z", "stock"),
    *("x.y", "x_y", "x-y", "10", "9", "Zeta", "alpha.events.v2"),
)
RACKS = ("a", "b", "c", "d", "use1-az1")


def random_uuid(random: Random) -> str:
    """A uuid as clients make them."""
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


def colliding(random: Random, wanted: int) -> list[str]:
    """Different strings with one hashCode: `Aa` and `BB` hash alike, so do sequences of them."""
    width = max(1, (wanted - 1).bit_length())
    head, tail = random.choice(["", "c-", "app-"]), random.choice(["", "-1", "x"])
    return [
        head + "".join("BB" if value >> bit & 1 else "Aa" for bit in range(width)) + tail
        for value in random.sample(range(2**width), wanted)
    ]


def same_bucket(random: Random, wanted: int, capacity: int, prefix: str) -> list[str]:
    """Strings that share a bucket of a table, but as a rule not a hash."""
    bucket = random.randrange(capacity)
    found: dict[str, None] = {}
    while len(found) < wanted:
        name = f"{prefix}{random.randrange(10**6)}"
        if spread(string_hash(name)) & (capacity - 1) == bucket:
            found[name] = None
    return list(found)


def _plain_id(random: Random, kind: str) -> str:
    """One member id of a kind."""
    number = random.randrange(10_000)
    if kind == "numbered":
        return random.choice(["consumer", "c", "member-"]) + str(number)
    if kind == "uuid":
        return random.choice(["app-", "consumer-g-1-", "rdkafka-", ""]) + random_uuid(random)
    if kind == "short":
        return f"m-{random.getrandbits(32):08x}"
    if kind == "long":
        return "x" * random.randrange(100, 400) + f"-{number}"
    return random.choice(ODD) + random.choice([*ODD, ""]) + f"-{number:x}"


def member_ids(random: Random, wanted: int) -> list[str]:
    """Distinct member ids; some sets collide, share a bucket or make a tree."""
    kinds = ["numbered", "uuid", "short", "long", "odd", "collide", "bucket", "mixed"]
    kind = random.choices(kinds, [20, 25, 15, 4, 6, 10, 11, 9])[0]
    found: dict[str, None] = {}
    if kind == "collide":
        found.update(
            dict.fromkeys(colliding(random, min(wanted, random.choice([2, 5, 9, 12, 60]))))
        )
    elif kind == "bucket":
        capacity = 16
        while wanted > capacity * 3 // 4:
            capacity *= 2
        shared = min(wanted, random.choice([2, 3, 4, 6, 9, 10]))
        found.update(dict.fromkeys(same_bucket(random, shared, capacity, "m")))
    while len(found) < wanted:
        one = random.choice(kinds[:5]) if kind == "mixed" else kind
        found[_plain_id(random, one if one in kinds[:5] else "numbered")] = None
    ids = list(found)
    random.shuffle(ids)
    return sorted(ids) if random.random() < 0.15 else ids


def topic_names(random: Random, wanted: int) -> list[str]:
    """Distinct topic names."""
    kind = random.choices(["t", "word", "long", "collide", "bucket"], [40, 30, 5, 12, 13])[0]
    if kind == "word" and wanted <= len(WORDS):
        names = random.sample(WORDS, wanted)
    elif kind == "long":
        names = [f"{'very.long.topic.name.' * 5}{number}" for number in range(wanted)]
    elif kind == "collide":
        names = colliding(random, max(wanted, 1))[:wanted]
    elif kind == "bucket":
        names = same_bucket(random, min(wanted, 5), 16, "t")
        names += [f"u{number}" for number in range(wanted - len(names))]
    else:
        names = [f"{random.choice(['t', 'topic', 'topic-'])}{number}" for number in range(wanted)]
    random.shuffle(names)
    return names


def partition_counts(random: Random, wanted: int) -> list[int]:
    """Number of partitions of each topic; now and then none."""
    style = random.choices(["small", "equal", "any", "big", "zeroes"], [30, 20, 30, 10, 10])[0]
    same = random.randrange(1, 13)
    draw: dict[str, Callable[[], int]] = {
        "small": lambda: random.randrange(1, 6),
        "equal": lambda: same,
        "any": lambda: random.randrange(1, 41),
        "big": lambda: random.randrange(20, 41),
        "zeroes": lambda: random.choice([0, 0, 1, random.randrange(1, 12)]),
    }
    return [draw[style]() for _ in range(wanted)]


class RackPlan:
    """How replicas are spread over racks in one case."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.racks = random.sample(RACKS, random.randrange(1, 5))
        self.mode = random.choice(
            ["all", "rotate", "rotate", "random", "random", "some-null", "one"]
        )
        self.shift = random.randrange(3)
        self.who = random.choice(["all", "most", "few", "foreign"])

    def replicas(self, partition: int) -> list[str | None]:
        """Rack of each replica of one partition."""
        random, racks = self.random, self.racks
        if self.mode == "all":
            return list(racks)
        if self.mode == "rotate":
            copies = min(len(racks), 1 + self.shift % 2)
            return [racks[(partition + self.shift + copy) % len(racks)] for copy in range(copies)]
        if self.mode == "one":
            return [racks[0]]
        choices = [*racks, None] if self.mode == "some-null" else racks
        return [random.choice(choices) for _ in range(random.randrange(1, 4))]

    def topic(self, partitions: int) -> list[list[str | None]]:
        """Racks of a topic's replicas."""
        return [self.replicas(partition) for partition in range(partitions)]

    def member(self) -> str | None:
        """A member's rack, or None; some are empty or hold no replica."""
        share = {"all": 1.0, "most": 0.8, "few": 0.25, "foreign": 0.6}[self.who]
        if self.random.random() >= share:
            return None
        racks = [*self.racks, "zz", ""] if self.who == "foreign" else self.racks
        return self.random.choice(racks)


def subscriptions(random: Random, members: int, names: list[str]) -> list[list[str]]:
    """One topic list a member: equal, shuffled, mixed, in buckets, nested, or partly empty."""
    pool = names + [f"ghost{number}" for number in range(random.choice([0, 0, 0, 1, 2]))]
    if not pool:
        return [[] for _ in range(members)]
    base = sorted(pool) if random.random() < 0.8 else random.sample(pool, len(pool))

    def some() -> list[str]:
        return sorted(random.sample(pool, random.randrange(1, len(pool) + 1)))

    kinds = ["equal", "shuffled", "mixed", "buckets", "nested", "one-differs", "single", "empty"]
    kind = random.choices(kinds, [34, 8, 26, 8, 6, 8, 4, 6])[0]
    shared = [some() for _ in range(random.randrange(2, 5))]
    parts = random.randrange(2, 4)
    odd = random.randrange(members)
    draw: dict[str, Callable[[int], list[str]]] = {
        "equal": lambda i: list(base),
        "shuffled": lambda i: random.sample(base, len(base)),
        "mixed": lambda i: random.choice(shared) if random.random() < 0.6 else some(),
        "buckets": lambda i: [t for j, t in enumerate(base) if j % parts == i % parts],
        "nested": lambda i: base[: 1 + i % len(base)],
        "one-differs": lambda i: some() if i == odd else list(base),
        "single": lambda i: [random.choice(pool)],
        "empty": lambda i: list(base) if random.random() < 0.7 else [],
    }
    found = [list(draw[kind](index)) for index in range(members)]
    if random.random() < 0.03 and found[odd]:
        found[odd].append(random.choice(found[odd]))
    return found


def member_count(random: Random) -> int:
    """1 to 140, small ones often."""
    low, high = random.choices([(1, 7), (5, 21), (20, 41), (65, 141)], [50, 32, 15, 3])[0]
    return random.randrange(low, high)


def instance_ids(random: Random, members: int) -> list[str | None]:
    """`group.instance.id` of each member: of none, all or some."""
    style = random.choices(["none", "all", "some"], [62, 14, 24])[0]
    numbers = random.sample(range(members * 2), members)
    return [
        random.choice(["i", "inst-", ""]) + str(number)
        if style == "all" or (style == "some" and random.random() < 0.5)
        else None
        for number in numbers
    ]
