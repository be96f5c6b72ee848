"""Which release this is."""

from typing import Final

VERSION: Final = "0.1.0"
"""What the package's metadata say, which are made from it and take 15 ms to read."""
