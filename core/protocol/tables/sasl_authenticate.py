"""SaslAuthenticate, API 36."""

from typing import Final

REQUEST: Final = """
SaslAuthenticateRequest 0-2 flexible 2+
    auth_bytes bytes
"""

RESPONSE: Final = """
SaslAuthenticateResponse 0-2 flexible 2+
    error_code int16
    error_message string?
    auth_bytes bytes
    session_lifetime_ms int64 1+ default 0
"""
