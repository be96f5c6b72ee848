"""Releases of client libraries whose leaders' assignments are known."""

from kgroups.assignors.java.former_leaders import release_of
from kgroups.assignors.other_clients.variants import RELEASES
from kgroups.assignors.spec import AssignorError
from kgroups.core.errors import UsageError


def known_release(library: str, version: str) -> str | None:
    """The release of Java that a version is of; None of another library: it has one way only.

    Raises:
        UsageError: what leaders of this version assign is not known.
    """
    if library == "java":
        try:
            return release_of(version)
        except AssignorError as error:
            raise UsageError(error.message, hint=error.hint) from error
    if f"{version}.".startswith(f"{RELEASES[library]}."):
        return None
    raise UsageError(
        f"what leaders of {library} {version} assign is not known",
        hint=f"known: {library} {RELEASES[library]}",
    )
