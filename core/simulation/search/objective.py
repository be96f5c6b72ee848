"""The objective that a search minimises: arithmetic over figures, as `moved + lag`."""

import ast
from collections.abc import Callable, Mapping
from math import inf, isfinite
from operator import add, mul, sub, truediv
from typing import Final

from kgroups.core.conditions.fields import Value
from kgroups.core.errors import UsageError
from kgroups.core.simulation.figures.figure_fields import SIMULATION_FIELDS

MAX_LENGTH: Final = 500
MAX_DEPTH: Final = 50
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.Div: truediv,
}
_FUNCTIONS: Final[Mapping[str, Callable[..., float]]] = {"max": max, "min": min}
_HINT: Final = "figures, numbers, + - * / ( ), max(...) and min(...); durations are in seconds"


class Objective:
    """An expression over the figures of a simulation; durations are in seconds.

    Raises:
        UsageError: it cannot be understood, or names a figure that is not known.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > MAX_LENGTH:
            raise UsageError("the expression of `--minimise` is too long", hint=_HINT)
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as broken:
            raise self._wrong() from broken
        self._check(self._tree, 0)

    def _wrong(self) -> UsageError:
        return UsageError(f"`--minimise {self.text}` cannot be understood", hint=_HINT)

    def _check(self, node: ast.expr, depth: int) -> None:
        inner: list[ast.expr] = []
        if depth > MAX_DEPTH:
            raise self._wrong()
        if isinstance(node, ast.Name):
            self._check_name(node.id)
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            inner = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = [node.operand]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in _FUNCTIONS or len(node.args) < 2 or node.keywords:
                raise self._wrong()
            inner = node.args
        elif not isinstance(node, ast.Constant) or type(node.value) not in (int, float):
            raise self._wrong()
        for child in inner:
            self._check(child, depth + 1)

    def _check_name(self, name: str) -> None:
        if SIMULATION_FIELDS.field(name) is None:
            names = ", ".join(figure for figure in SIMULATION_FIELDS.names if "_p9" not in figure)
            hint = SIMULATION_FIELDS.meant(name) or f"known: {names}"
            raise UsageError(f"`{name}` is not a figure of a simulation", hint=hint)

    def value(self, values: Mapping[str, Value]) -> float:
        """Its value; infinity for what cannot be computed."""
        try:
            value = self._value(self._tree, values)
        except (ZeroDivisionError, OverflowError):
            return inf
        return value if isfinite(value) else inf

    def _value(self, node: ast.expr, values: Mapping[str, Value]) -> float:
        if isinstance(node, ast.Name):
            field = SIMULATION_FIELDS.field(node.id)
            assert field is not None, "checked when it was parsed"
            figure = values[field.name]
            assert isinstance(figure, int | float), "figures of a simulation are numbers"
            return float(figure)
        if isinstance(node, ast.BinOp):
            left, right = self._value(node.left, values), self._value(node.right, values)
            return _OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp):
            return -self._value(node.operand, values)
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            return _FUNCTIONS[node.func.id](self._value(argument, values) for argument in node.args)
        assert isinstance(node, ast.Constant)
        assert isinstance(node.value, int | float)
        return float(node.value)
