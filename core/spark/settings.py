"""Users' settings of Spark: `--conf KEY=VALUE`, `spark-defaults.conf`, and the master they name."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.files import MIB, read_text

DEFAULTS_FILE: Final = "spark-defaults.conf"
# A line as java.util.Properties has it: a key, then `=`, `:` or blanks, then the value.
_LINE: Final = re.compile(r"([^\s=:]+)\s*[\s=:]\s*(.*)")
_LOCAL: Final = re.compile(r"local(\[(\d+|\*)(,\s*\d+)?\]|-cluster\[\d+,\s*\d+,\s*\d+\])?")
_MASTERS: Final = "local[N], spark://host:7077, yarn, k8s://https://host:6443"
KUBERNETES_PORTS: Final[Mapping[str, int]] = {"https": 443, "http": 80}
HADOOP_VARIABLES: Final = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
MASTER_PORT: Final = 7077
MOST_PORT: Final = 65_535


class Master(NamedTuple):
    """Which cluster manager is asked for executors, and where it is.

    Args:
        kind: local, standalone, yarn or kubernetes.
        addresses: hosts and ports, one of which must answer; none of local and yarn.
    """

    kind: str
    addresses: tuple[tuple[str, int], ...] = ()


def parse_settings(texts: Iterable[str]) -> dict[str, str]:
    """`KEY=VALUE` of Spark's settings, by their keys; the last of a key counts.

    Raises:
        UsageError: one is no such text; a value, which may be a secret, is not shown.
    """
    settings = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not (sign and key.startswith("spark.")):
            raise UsageError(
                f"`--conf {shorten(key)}` is not a setting of Spark",
                hint="write it as KEY=VALUE: --conf spark.executor.memory=2g",
            )
        settings[key] = value
    return settings


def spark_defaults(environ: Mapping[str, str]) -> dict[str, str]:
    """The settings of `spark-defaults.conf`, where the environment says that Spark's are.

    Raises:
        UsageError: the file cannot be read.
    """
    folder = environ.get("SPARK_CONF_DIR")
    if not folder and environ.get("SPARK_HOME"):
        folder = os.path.join(environ["SPARK_HOME"], "conf")  # noqa: PTH118  as Spark does
    path = Path(folder or ".") / DEFAULTS_FILE
    if not folder or not path.exists():
        return {}
    lines = read_text(path, MIB, "settings of Spark").splitlines()
    matches = (_LINE.match(line.strip()) for line in lines if line.strip()[:1] not in ("#", "!"))
    return {match[1]: match[2].strip() for match in matches if match}


def parse_master(master: str, environ: Mapping[str, str]) -> Master:
    """A master as Spark spells it, taken apart.

    Raises:
        UsageError: it cannot be read, or `yarn` without the folder of Hadoop's settings.
    """
    if _LOCAL.fullmatch(master):
        return Master("local")
    if master == "yarn":
        if not any(environ.get(name) for name in HADOOP_VARIABLES):
            raise UsageError(
                "`--master yarn` requires the settings of a Hadoop cluster",
                hint="set HADOOP_CONF_DIR or YARN_CONF_DIR to the folder of yarn-site.xml",
            )
        return Master("yarn")
    standalone = re.fullmatch(r"spark://(.+)", master)
    if standalone:
        places = tuple(_host_and_port(text) for text in standalone[1].split(","))
        return Master("standalone", places)
    kubernetes = re.fullmatch(r"k8s://(?:(https?)://)?([^/]+)/?", master)
    if kubernetes:
        port = KUBERNETES_PORTS[kubernetes[1] or "https"]
        return Master("kubernetes", (_host_and_port(kubernetes[2], port),))
    raise UsageError(
        f"`{shorten(master)}` is not a Spark master URL",
        hint=f"use {_MASTERS}, or --remote sc://host:15002",
    )


def _host_and_port(text: str, usual: int = MASTER_PORT) -> tuple[str, int]:
    """`host:port` or `host`, taken apart.

    Raises:
        UsageError: no port has this number.
    """
    host, _, port = text.rpartition(":")
    if not (host and port.isdigit()):
        return text, usual
    if len(port) > len(str(MOST_PORT)) or int(port) > MOST_PORT:
        raise UsageError(
            f"`{text}` is not the address of a Spark master",
            hint=f"a port is a number up to {MOST_PORT}: host:{usual}",
        )
    return host, int(port)
