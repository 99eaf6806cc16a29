"""Strict JSON parsing, with the JSON path of each error.

Rejects repeated keys, lone surrogates, and numbers that are not integers. Schemas are
checked afterwards, in `documents`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from rebalance.errors import DocumentError

_BOM = "\ufeff"
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_SHOWN = 80  # characters of a value in an error message


class _RepeatedKey(dict[str, Any]):
    """Marker of an object with a repeated key, which traversal finds again."""

    key: str


def parse_json(text: bytes | str) -> Any:
    """Parse one JSON value.

    Raises
    ------
    DocumentError
        If the text is not UTF-8, not JSON, or repeats a key (with its path).
    """
    decoded = _decoded(text)
    repeated: list[_RepeatedKey] = []

    def from_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) == len(pairs):
            return built
        marked = _RepeatedKey(built)
        marked.key = _first_repeated([key for key, _ in pairs])
        repeated.append(marked)
        return marked

    try:
        value = json.loads(decoded, object_pairs_hook=from_pairs)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise DocumentError(f"not JSON: {error.msg} ({where})") from None
    except RecursionError:
        raise DocumentError("not readable: nested too deeply") from None
    except ValueError:  # Python's guard against integers of thousands of digits
        raise DocumentError("not readable: an integer of absurd length") from None
    if repeated:
        _refuse_repeated(value)
    if "\\u" in decoded or "\\U" in decoded:
        _refuse_surrogates(value)
    return value


def json_path(steps: tuple[int | str, ...]) -> str:
    """Format steps as a JSON path: ``$.topics.t0.lag[2]``, ``$.members["a b"]``."""
    return "$" + "".join(_step(step) for step in steps)


def shown(value: object) -> str:
    """Return a shortened representation for a message."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _step(step: int | str) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if len(step) > _SHOWN:
        step = step[:_SHOWN] + "…"
    return f".{step}" if _PLAIN_KEY.match(step) else f"[{json.dumps(step)}]"


def _decoded(text: bytes | str) -> str:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DocumentError(f"not UTF-8 at byte {error.start}") from None
    if text.startswith(_BOM):
        raise DocumentError("starts with a byte order mark; write plain UTF-8")
    return text


def _first_repeated(keys: list[str]) -> str:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    raise AssertionError("called without a repeated key")


def _refuse_repeated(value: Any) -> None:
    for steps, found in _walk(value):
        if isinstance(found, _RepeatedKey):
            raise DocumentError("key given twice", path=json_path((*steps, found.key)))


def _refuse_surrogates(value: Any) -> None:
    for steps, found in _walk(value):
        names = found if isinstance(found, dict) else (found,)
        for name in names:
            if isinstance(name, str) and not _is_unicode(name):
                reason = f"half a surrogate pair in {ascii(name)[:_SHOWN]}"
                raise DocumentError(reason, path=json_path(steps))


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _walk(value: Any) -> Iterator[tuple[tuple[int | str, ...], Any]]:
    """Yield every value with its steps from the root, outermost first."""
    stack: list[tuple[tuple[int | str, ...], Any]] = [((), value)]
    while stack:
        steps, found = stack.pop()
        yield steps, found
        if isinstance(found, dict):
            inner = [((*steps, key), item) for key, item in found.items()]
        elif isinstance(found, list):
            inner = [((*steps, i), item) for i, item in enumerate(found)]
        else:
            continue
        stack.extend(reversed(inner))
