"""Settings of clients, out of the text of a properties file."""

from kgroups.core.input_files.properties import parse_properties
from kgroups.core.kafka.config.settings import ClientSettings, settings_of


def settings_from_text(text: str, bootstrap_servers: str | None = None) -> ClientSettings:
    """Settings from the text of a properties file.

    Raises:
        UsageError: the text or a value in it cannot be understood.
    """
    return settings_of(parse_properties(text, "properties"), bootstrap_servers)
