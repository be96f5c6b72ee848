"""Rebalances in virtual time: the real coordinator and client half under a heap of events."""
