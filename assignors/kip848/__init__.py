"""The strategies of KIP-848, which run on the broker."""
