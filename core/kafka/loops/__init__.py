"""What the wire client waits with: asyncio, or a small loop that is imported sooner."""
