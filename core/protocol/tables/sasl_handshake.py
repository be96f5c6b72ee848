"""SaslHandshake, API 17."""

from typing import Final

REQUEST: Final = """
SaslHandshakeRequest 0-1
    mechanism string
"""

RESPONSE: Final = """
SaslHandshakeResponse 0-1
    error_code int16
    mechanisms []string
"""
