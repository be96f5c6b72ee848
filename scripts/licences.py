#!/usr/bin/env python3
"""Writes docs/licences.md: what kgroups depends on, in which version, and under which licence.

scripts/licences.py          writes the page
scripts/licences.py check    writes nothing; fails if the page is out of date
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
EXTRAS = ("", "spark", "duckdb", "collect", "html", "search", "aws")
HEAD = """\
# Licences

What the package requires, directly or not, in the versions of `constraints.txt`, with the licences
that their own metadata name. `make licences` writes this page. The extra `kerberos`, which is built
where it is installed, adds gssapi (ISC) and decorator (BSD-2-Clause).

| package | version | licence | for |
|---|---|---|---|
"""


def page() -> str:
    """The page's text."""
    reasons: dict[str, list[str]] = {}
    for extra in EXTRAS:
        for name in dict.fromkeys(required(own_requirements(extra), ("",), set())):
            reasons.setdefault(name, []).append(extra or "base")
    rows = []
    for name, extras in sorted(reasons.items()):
        found = distribution(name)
        why = "base" if "base" in extras else ", ".join(extras)
        rows.append(f"| {name} | {found.version} | {licence(name, found)} | {why} |\n")
    return HEAD + "".join(rows)


def own_requirements(extra: str) -> list[str]:
    """What the package itself asks for, or one of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: list[str] = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return found


def required(
    texts: Sequence[str], extras: Sequence[str], seen: set[tuple[str, str]]
) -> Iterator[str]:
    """What these requirements of a package with these extras come to here, directly or not."""
    for text in texts:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is not None and not any(marker.evaluate({"extra": each}) for each in extras):
            continue
        found = requirement.name.lower()
        key = (found, ",".join(sorted(requirement.extras)))
        if key not in seen:
            seen.add(key)
            yield found
            inner = distribution(found).requires or ()
            yield from required(inner, tuple(requirement.extras) or ("",), seen)


def licence(name: str, found: Distribution) -> str:
    """The licence as an expression or in the words of the metadata.

    Raises:
        SystemExit: they name none.
    """
    fields = found.metadata.json
    said = str(fields.get("license_expression") or _of_classifiers(fields.get("classifier") or ()))
    short = str(fields.get("license") or "").strip()
    if not said and short and "\n" not in short:
        said = short
    if not said:
        sys.exit(f"error: the metadata of `{name}` name no licence")
    return said


def _of_classifiers(classifiers: Sequence[str]) -> str:
    names = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License ::")]
    return ", ".join(re.sub(r" \(.*\)$", "", name) for name in names if name != "OSI Approved")


def main(what: str) -> int:
    """Write the page, or check it."""
    text = page()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    if what == "check":
        print("out of date: docs/licences.md; run `make licences`")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    print("wrote docs/licences.md")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["check"]):
        sys.exit(__doc__)
    sys.exit(main("".join(sys.argv[1:])))
