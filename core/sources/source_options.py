"""The options of the data sources: how to reach the cluster, as Spark's own Kafka source has it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.kafka.config.settings import ClientSettings, read_settings
from kgroups.core.times import parse_duration_ms

PREFIX: Final = "kafka."
TIMEOUT: Final = "10s"


def settings_of_options(options: Mapping[str, str]) -> ClientSettings:
    """Settings of a client from `kafka.` options (`kafka.bootstrap.servers`), and a file's.

    Args:
        options: `kafka.` and a property of Java or librdkafka; `config`: a properties file.
    Raises:
        UsageError: no address, or a property that cannot be understood.
    """
    given = {
        name.removeprefix(PREFIX): value
        for name, value in options.items()
        if name.startswith(PREFIX)
    }
    config = options.get("config")
    bootstrap = given.pop("bootstrap.servers", None)
    settings = read_settings(bootstrap, Path(config) if config else None, given)
    return replace(settings, trace=None)  # it happens in Spark's workers


def timeout_ms_of(options: Mapping[str, str]) -> int:
    """How long the cluster may take, `10s` unless the option `timeout` says otherwise."""
    return round(parse_duration_ms(options.get("timeout", TIMEOUT)))


def choice_of(options: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """An option that is one of some words, the first of them if it is not given.

    Raises:
        UsageError: another word.
    """
    word = options.get(name, choices[0]).lower()
    if word not in choices:
        raise UsageError(f"option `{name}` is `{word}`", hint="one of " + ", ".join(choices))
    return word
