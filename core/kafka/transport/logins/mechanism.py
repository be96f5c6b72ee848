"""The interface of a SASL mechanism: the messages of one login."""

from collections.abc import Generator

Messages = Generator[bytes, bytes, None]
"""Yields what to send, is sent what the broker answers, and returns when the login is over."""


class LoginError(Exception):
    """The broker refused the login, or is not who it says.

    Args:
        detail: why, without a secret; None where nobody says.
    """

    def __init__(self, detail: str | None) -> None:
        super().__init__(detail or "")
        self.detail = detail
