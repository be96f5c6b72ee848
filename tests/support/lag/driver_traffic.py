"""What comes to the driver while a report is computed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

BRINGS_HOME = ["collect", "toPandas", "toArrow", "toLocalIterator", "take", "head", "tail", "first"]


@contextmanager
def rows_brought_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Number of rows of each answer that comes to the driver."""
    sizes: list[int] = []

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            answer = original(*args, **kwargs)
            if not isinstance(answer, list) and not hasattr(answer, "__len__"):
                answer = list(answer) if answer is not None else []
            sizes.append(len(answer))
            return answer

        return call

    with monkeypatch.context() as patch:
        for name in BRINGS_HOME:
            patch.setattr(ClassicDataFrame, name, counted(getattr(ClassicDataFrame, name)))
        patch.setattr(ClassicDataFrame, "rdd", property(lambda _self: pytest.fail("uses an RDD")))
        yield sizes
