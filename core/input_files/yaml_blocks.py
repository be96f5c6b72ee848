"""Documents as YAML text, many times as fast as PyYAML writes them, and byte for byte the same.

PyYAML makes a node of each value, and asks its resolver twice what a plain scalar would be taken
for. Here lists and mappings are laid out directly, and the library is asked once for each text that
occurs. A document with anything that it would not write on one line, or write as an anchor, is left
to it as a whole.
"""

from typing import Any, Final

import yaml

_MOST_TEXTS: Final = 1 << 16
_CONSTANTS: Final = {None: "null", True: "true", False: "false"}


class _OtherwiseError(Exception):
    """Something that the library writes in another way."""


class YamlWriter:
    """Writes documents as one dumper does, with mappings in their own order.

    Args:
        dumper: of PyYAML.
        width: columns after which it breaks lines at blanks.
    """

    def __init__(self, dumper: Any, width: int) -> None:
        self._dumper, self._width = dumper, width
        self._texts: dict[object, str] = {}
        self._keys: dict[str, str] = {}

    def text(self, value: object) -> str:
        """A document."""
        document = _Blocks(self)
        try:
            document.put(value)
        except _OtherwiseError:
            return self._by_library(value)
        return "".join(document.parts)

    def _by_library(self, value: object) -> str:
        return str(
            yaml.dump(
                value, Dumper=self._dumper, sort_keys=False, allow_unicode=True, width=self._width
            )
        )

    def scalar(self, value: object, column: int) -> str:
        """A scalar behind so many characters of its line.

        Raises:
            _OtherwiseError: it takes several lines, or is no scalar that we know.
        """
        kind = type(value)
        if kind is int:
            return str(value)
        if kind is bool or value is None:
            return _CONSTANTS[value]  # type: ignore[index]
        text = self._texts.get(value)
        if text is None:
            if kind is not float and not (type(value) is str and value.isprintable()):
                raise _OtherwiseError
            text = self._by_library({"k": value}).removeprefix("k: ").removesuffix("\n")
            if "\n" in text or not text:
                raise _OtherwiseError
            if len(self._texts) == _MOST_TEXTS:
                self._texts.clear()
            self._texts[value] = text
        if column + len(text) > self._width and " " in text:
            raise _OtherwiseError
        return text

    def key(self, value: object) -> str:
        """A key with its colon.

        Raises:
            _OtherwiseError: it does not stand on the line of its value, or is no text.
        """
        if type(value) is not str or not value.isprintable():
            raise _OtherwiseError
        text = self._keys.get(value)
        if text is None:
            text = self._by_library({value: 0}).removesuffix(" 0\n")
            if "\n" in text or text.startswith("?"):
                raise _OtherwiseError
            if len(self._keys) == _MOST_TEXTS:
                self._keys.clear()
            self._keys[value] = text
        return text


class _Blocks:
    """One document in block style, on its way."""

    def __init__(self, writer: YamlWriter) -> None:
        self.parts: list[str] = []
        self._writer = writer
        self._seen: set[int] = set()

    def put(self, value: object) -> None:
        """The whole document, which is a list or a mapping."""
        if not isinstance(value, dict | list | tuple) or not value:
            raise _OtherwiseError
        self._nested(value, "", "")

    def _nested(self, value: Any, start: str, pad: str) -> None:
        """A list or mapping with something in it.

        Args:
            start: what stands before its first line.
            pad: what stands before the others.
        """
        kind = type(value)
        if kind is dict:
            self._mapping(value, start, pad)
        elif kind is list or kind is tuple:
            self._list(value, start, pad)
        else:
            raise _OtherwiseError

    def _mapping(self, value: dict[object, Any], start: str, pad: str) -> None:
        self._once(value)
        add, scalar, key_of = self.parts.append, self._writer.scalar, self._writer.key
        for key, item in value.items():
            line = start + key_of(key)
            start = pad
            if isinstance(item, dict | list | tuple):
                if item:
                    add(line + "\n")
                    # lists stand as far in as the keys above them
                    own = f"{pad}  " if isinstance(item, dict) else pad
                    self._nested(item, own, own)
                else:
                    add(f"{line} {self._empty(item)}\n")
            else:
                add(f"{line} {scalar(item, len(line) + 1)}\n")

    def _list(self, value: list[Any] | tuple[Any, ...], start: str, pad: str) -> None:
        self._once(value)
        add, scalar = self.parts.append, self._writer.scalar
        for item in value:
            line, start = f"{start}- ", pad
            if isinstance(item, dict | list | tuple):
                if item:
                    self._nested(item, line, f"{pad}  ")
                else:
                    add(f"{line}{self._empty(item)}\n")
            else:
                add(f"{line}{scalar(item, len(line))}\n")

    def _empty(self, value: object) -> str:
        if value != ():
            self._once(value)
        return "{}" if isinstance(value, dict) else "[]"

    def _once(self, value: object) -> None:
        """See that it did not stand anywhere before: it would be an alias.

        Raises:
            _OtherwiseError: it did.
        """
        if id(value) in self._seen:
            raise _OtherwiseError
        self._seen.add(id(value))
