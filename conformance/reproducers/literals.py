"""Literals of names, numbers, lists, and maps in the languages of the reproducers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Owned = Mapping[str, Sequence[int]]


def text(value: str) -> str:
    """Return a string literal, which is the same in all languages.

    Control characters are escaped as in JSON; everything else is written as it is,
    because Go has no surrogate pairs.
    """
    return json.dumps(value, ensure_ascii=False)


def comment(value: str) -> str:
    r"""Return text for a line comment: one line, and nothing that could end it.

    Java reads escapes such as ``\u000a`` before it looks for comments.
    """
    one_line = " ".join(value.split()).replace("\\", "/")
    return "".join(c for c in one_line if c.isprintable()).replace("*/", "* /")


def python(value: Any) -> str:
    """Return a literal of Python; maps are sorted."""
    return _literal(value, ("{", ": ", "}"), none="None")


def javascript(value: Any) -> str:
    """Return a literal of JavaScript; maps are sorted.

    ``__proto__`` as a computed key is a key like any other.
    """
    return _literal(value, ("{ ", ": ", " }"), none="undefined", key=_javascript_key)


def go_strings(values: Sequence[str]) -> str:
    """Return a ``[]string``."""
    return f"[]string{{{_joined(map(text, values))}}}"


def go_owned(owned: Owned) -> str:
    """Return a map from topics to partitions."""
    rows = (
        f"{text(t)}: {{{_joined(map(str, ns))}}}" for t, ns in sorted(owned.items())
    )
    return f"map[string][]int32{{{_joined(rows)}}}"


def go_racks(racks: Sequence[Sequence[str]]) -> str:
    """Return the elements of a ``[][]string``."""
    return f"{{{_joined(f'{{{_joined(map(text, rack))}}}' for rack in racks)}}}"


def java_strings(values: Sequence[str]) -> str:
    """Return a ``List<String>``."""
    return f"List.of({_joined(map(text, values))})"


def java_owned(owned: Owned) -> str:
    """Return a ``Map<String, List<Integer>>``; ``Map.of`` takes ten entries at most."""
    rows = [
        (text(t), f"List.of({_joined(map(str, ns))})")
        for t, ns in sorted(owned.items())
    ]
    if len(rows) <= 10:
        return f"Map.of({_joined(_joined(row) for row in rows)})"
    entries = (f"Map.entry({topic}, {numbers})" for topic, numbers in rows)
    return f"Map.ofEntries({_joined(entries)})"


def java_racks(racks: Sequence[Sequence[str]]) -> str:
    """Return a ``List<List<String>>``."""
    return f"List.of({_joined(map(java_strings, racks))})"


FILTERS: Mapping[str, Callable[[Any], str]] = {
    "text": text,
    "comment": comment,
    "python": python,
    "javascript": javascript,
    "go_strings": go_strings,
    "go_owned": go_owned,
    "go_racks": go_racks,
    "java_strings": java_strings,
    "java_owned": java_owned,
    "java_racks": java_racks,
}


def _joined(parts: Any) -> str:
    return ", ".join(parts)


def _javascript_key(key: str) -> str:
    return f"[{text(key)}]" if key == "__proto__" else text(key)


def _literal(
    value: Any,
    braces: tuple[str, str, str],
    *,
    none: str,
    key: Callable[[str], str] = text,
) -> str:
    if value is None:
        return none
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        before, colon, after = braces
        rows = [
            f"{key(name)}{colon}{_literal(entry, braces, none=none, key=key)}"
            for name, entry in sorted(value.items())
        ]
        return f"{before}{_joined(rows)}{after}" if rows else "{}"
    if isinstance(value, Sequence):
        inner = (_literal(item, braces, none=none, key=key) for item in value)
        return f"[{_joined(inner)}]"
    return str(value)
