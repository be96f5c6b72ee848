"""orjson, imported so that a signal meanwhile is survived.

Its C code imports these modules, and a KeyboardInterrupt that is raised in one of them ends the
process with a segmentation fault. They are imported before, where an interrupt is one.
"""

import dataclasses
import datetime
import enum
import json
import uuid

import orjson

__all__ = ["orjson"]

_BEFORE = (dataclasses, datetime, enum, json, uuid)
