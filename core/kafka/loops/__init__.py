"""What the wire client waits with: asyncio, or a small loop that is imported sooner."""

NEXT_PLACE_S = 0.25
"""After so long without an answer the next address is tried, too (RFC 8305)."""
