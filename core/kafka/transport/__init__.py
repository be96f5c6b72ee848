"""The wire client: connections, login, frames, requests."""
