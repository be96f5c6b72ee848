"""Settings of clients in properties files, read and written."""

from collections.abc import Mapping
from pathlib import Path

from kgroups.core.input_files.properties import parse_properties
from kgroups.core.kafka.config.settings import ClientSettings, settings_of


def settings_from_text(text: str, bootstrap_servers: str | None = None) -> ClientSettings:
    """Settings from the text of a properties file.

    Raises:
        UsageError: the text or a value in it cannot be understood.
    """
    return settings_of(parse_properties(text, "properties"), bootstrap_servers)


def write_properties_file(file: Path, properties: Mapping[str, str | None]) -> Path:
    """The file with these properties; those that are None are left out."""
    lines = (f"{name}={value}\n" for name, value in properties.items() if value is not None)
    file.write_text("".join(lines))
    return file
