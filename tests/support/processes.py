"""Processes that tests have begun, by their ids."""

import psutil


def is_running(pid: int) -> bool:
    """Whether it runs: one that nobody has buried yet does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
