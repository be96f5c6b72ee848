"""Certificate and key files, looked at before OpenSSL reads them to an end that may not come."""

from pathlib import Path
from typing import Final

from kgroups.core.input_files.files import MIB, lies_at, read_file
from kgroups.core.kafka.config.settings import TlsSettings

MAX_BYTES: Final = 16 * MIB
"""The certificates of every authority that a system trusts take a quarter of a megabyte."""


def check_stores(tls: TlsSettings) -> None:
    """Nothing, if the files that the settings name are files, or are not there at all.

    Raises:
        UsageError: one is a pipe or a device, or longer than any; a trust store may be a folder.
    """
    for name in (tls.ca_file, tls.certificate_file, tls.key_file, tls.keystore_file):
        path = None if name is None else Path(name)
        there = None if path is None else lies_at(path)
        if path is None or there is None or (name == tls.ca_file and there == "folder"):
            continue  # what is missing is told where it is needed
        read_file(path, MAX_BYTES, "certificates or a key in PEM")
