"""Whether a file of client properties gives a secret away."""

import stat
from pathlib import Path
from typing import Final

from kgroups.core.kafka.config.settings import ClientSettings

_SECRET_WORDS: Final = ("password", "secret", "key.pem", "keystore.key", "token", "jaas.config")
_PLACES: Final = ("endpoint", "location", "url", "uri")
"""Properties about a secret that say where one is to be had."""


def exposed_secret(path: Path, settings: ClientSettings) -> str | None:
    """One sentence if the file holds a secret and every user of the machine may read it.

    Args:
        path: the file that the settings were read from.
        settings: what it says.
    """
    if settings.password is None and not any(map(is_secret, settings.properties)):
        return None
    return exposure_of(path)


def exposure_of(path: Path) -> str | None:
    """One sentence if every user of the machine may read a file with a secret."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if not stat.S_ISREG(mode) or not mode & stat.S_IROTH:
        return None
    return f"`{path}` contains a password and is readable by every user; run `chmod 600` on it"


def is_secret(name: str) -> bool:
    """Whether a property of this name holds a secret."""
    return any(word in name for word in _SECRET_WORDS) and not name.endswith(_PLACES)
