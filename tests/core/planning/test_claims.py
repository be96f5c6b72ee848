"""What members say of what they have is worked out once, and is what it would be otherwise."""

import pytest

from kgroups.core.planning import claims
from kgroups.core.planning.claims import Claim, said_of
from kgroups.core.planning.leaders.libraries import LIBRARIES, SPEAKERS

CLAIM = Claim("a-1", ("t", "u"), None, "r", (("t", (1, 0)), ("v", (2,))), 7, 6)
NEWER = CLAIM._replace(given=7)
MORE = CLAIM._replace(held=(("t", (1, 0, 3)),))


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_kept_is_what_is_worked_out(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every library with each of its strategies; another claim is another answer's."""
    strategies = [name for name, known in SPEAKERS.items() if library in known]
    asked = [
        (claim, strategy, mute)
        for claim in (CLAIM, NEWER, MORE)
        for strategy in (*strategies, "own")
        for mute in (False, True)
    ]
    kept = [said_of(claim, strategy, library, mute=mute) for claim, strategy, mute in asked]
    again = [said_of(claim, strategy, library, mute=mute) for claim, strategy, mute in asked]
    assert all(one is other for one, other in zip(kept, again, strict=True))
    monkeypatch.setattr(claims, "SMALL", -1)
    fresh = [said_of(claim, strategy, library, mute=mute) for claim, strategy, mute in asked]
    assert fresh == kept
    assert not any(one is other for one, other in zip(fresh, kept, strict=True))
