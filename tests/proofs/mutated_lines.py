"""Lines that are nearly documents: pairs mutated by value and by byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import count, islice
from random import Random
from typing import Any

from tests.proofs.drawn_pairs import ANSWERS, Pair, drawn_pairs

Lines = tuple[bytes, bytes]

PER_PAIR = 16
"""Mutations of a pair, one after another."""

TOKENS = (
    *("0", "1", "-1", "-0", "01", "+1", "1.0", "1e2", "1E-2", "-", "1.", ".5", "1e"),
    *(str(2**power + more) for power in (31, 53, 62, 63, 64) for more in (-1, 0, 1)),
    *(str(-(2**63) + more) for more in (-1, 0, 1, 2)),
    *("9" * 20, "9" * 21, "9" * 5000, "-" + "9" * 19, "10000000", "10000001"),
    *("true", "false", "null", "NaN", "Infinity", "-Infinity", "nan", "True", "None"),
    *('""', '"t"', '"a"', '"é"', '"\\ud800"', '"\\ude00x"', '"\\ud83d\\ude00"'),
    *('"\\ud800\\ud800"', '"\\u0000"', '"\\x"', '"\\u12"', "'t'", '"\t"', '"\x7f"'),
    *("[]", "{}", "[[]]", "[0]", "[0,0]", "[0,]", "{,}", '{"a":0,"a":0}', "{a:0}"),
    *('"rebalance/1"', '"assignment/1"', '"optimal"', '"none; rack, load"', '"kip54"'),
    *('"dec-min; stickiness; max-moves=99999999999999999999"', '"spread=01"'),
    *('"none; 2147483648*rack"', '"none; 2147483647*rack"', '"none; rack;  load"'),
)
"""Texts in place of a value: some are values, and some are JSON."""

BYTES = (
    *(b"//x", b"/*x*/", b"#", b",", b":", b"{", b"}", b"[", b"]", b'"', b"'", b"\\"),
    *(b"\x00", b"\x01", b"\x1f", b"\x7f", b"\t", b"\r", b"\x0b", b"\x0c", b" "),
    *(b"\x80", b"\xff", b"\xc0\x80", b"\xc2\xa0", b"\xe0\x80\x80", b"\xed\xa0\x80"),
    *(b"\xed\x9f\xbf", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xf4\x8f\xbf\xbf"),
    *(b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc3", b"\xf0\x9f\x98", b"\\u00e9", b"\\n"),
    *(b"0", b"-", b".", b"e5", b"null", b"NaN", b"\\ud83d", b"\\ude00"),
)
"""Bytes in the midst of a line."""

NAMES = (
    *("format", "group", "topics", "members", "partitions", "lag", "racks", "owned"),
    *("subscription", "generation", "rack", "instance_id", "capacity", "status"),
    *("policy", "objectives", "certificate", "figures", "reason", "assignor"),
    *("level", "price", "threshold", "weights", "of", "value", "bound", "scale"),
    *("proof", "by", "terms", "engine", "kind", "at_least", "steps", "weight"),
    *("loads", "kept", "moves", "withheld", "kip54_score", "kip54_balanced"),
    *("peak_lag", "lag_spread", "rack_mismatches", "dec_min_balanced", "a", "t", ""),
)
"""Keys in place of another; not ``id``, by which pairs would be matched."""

DEPTHS = (2, 9, 900, 1100, 200_000)
MARK = "\u241f"  # about a text that stands for itself


def mutated_lines(seed: int) -> Iterator[Lines]:
    """Yield pairs of lines without end, no line of them blank."""
    for place in count(seed):
        rng = Random(place)  # noqa: S311
        pairs = list(islice(drawn_pairs(place), ANSWERS))
        for pair in pairs:
            for _ in range(PER_PAIR):
                yield mutated(rng, pair)


def mutated(rng: Random, pair: Pair) -> Lines:
    """Mutate one document of a pair, or now and then both, once or a few times."""
    documents = deepcopy(list(pair))
    for document in documents:
        document.pop("id", None)
    chosen = rng.choice(((0,), (1,), (1,), (0, 1)))
    in_bytes = rng.randrange(4) == 0
    if not in_bytes or rng.randrange(4) == 0:
        for place in chosen:
            for _ in range(rng.choice((1, 1, 1, 2))):
                rng.choice(IN_VALUE)(rng, documents[place])
    lines = [line_of(rng, document) for document in documents]
    for place in chosen if in_bytes else ():
        lines[place] = rng.choice(IN_BYTES)(rng, lines[place])
    first, second = (line.replace(b"\n", b" ") for line in lines)
    return first if first.strip() else b"x", second if second.strip() else b"x"


def line_of(rng: Random, document: Any) -> bytes:
    """Write a document, with the texts that stand for themselves as they are."""
    space = rng.choice(((",", ":"), (", ", ": "), (" ,\t", " :  ")))
    is_ascii = rng.randrange(2) == 0
    text = json.dumps(document, ensure_ascii=is_ascii, separators=space)
    mark = json.dumps(MARK, ensure_ascii=is_ascii)[1:-1].replace("\\", r"\\")
    text = re.sub(
        f'"{mark}(.*?){mark}"', lambda found: json.loads(f'"{found[1]}"'), text
    )
    return text.encode("utf-8", "surrogatepass")


def itself(text: str) -> str:
    """Return a string that is written as the text itself, without quotes."""
    return MARK + text + MARK


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Return every place of a value: its object or list, with its key or number."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict):
            found += [(holder, key) for key in holder]
            waiting += holder.values()
        elif isinstance(holder, list):
            found += [(holder, place) for place in range(len(holder))]
            waiting += holder
    return found


def replace_value(rng: Random, document: Any) -> None:
    """Put a text in place of a value."""
    holder, key = rng.choice(nodes(document) or [([None], 0)])
    holder[key] = itself(rng.choice(TOKENS))


def change_number(rng: Random, document: Any) -> None:
    """Add to an integer, or negate it."""
    numbers = [(h, k) for h, k in nodes(document) if type(h[k]) is int]
    holder, key = rng.choice(numbers or [([0], 0)])
    number = holder[key]
    more = rng.choice((-2, -1, 1, 2, 100))
    holder[key] = rng.choice((number + more, number + more, -number, 10 * number))


def remove_value(rng: Random, document: Any) -> None:
    """Remove a field or an item."""
    holder, key = rng.choice(nodes(document) or [([None], 0)])
    del holder[key]


def repeat_value(rng: Random, document: Any) -> None:
    """Insert an item once more, or a field with another name or the same."""
    holder, key = rng.choice(nodes(document) or [([None], 0)])
    value = deepcopy(holder[key])
    if isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), value)
    else:
        name = rng.choice((key, key, rng.choice(NAMES)))
        holder[itself(json.dumps(name)) if name == key else name] = value


def move_value(rng: Random, document: Any) -> None:
    """Put a copy of one value in place of another."""
    places = nodes(document) or [([None], 0)]
    (source, from_key), (holder, key) = rng.choice(places), rng.choice(places)
    holder[key] = deepcopy(source[from_key])


def rename_key(rng: Random, document: Any) -> None:
    """Give a field another name."""
    fields = [(h, k) for h, k in nodes(document) if isinstance(h, dict)]
    holder, key = rng.choice(fields or [({"a": 0}, "a")])
    holder[rng.choice(NAMES)] = holder.pop(key)


def insert_bytes(rng: Random, line: bytes) -> bytes:
    """Insert some bytes."""
    place = rng.randrange(len(line) + 1)
    return line[:place] + rng.choice(BYTES) + line[place:]


def replace_byte(rng: Random, line: bytes) -> bytes:
    """Replace a byte with any other."""
    place = rng.randrange(len(line) + 1)
    return line[:place] + bytes([rng.randrange(256)]) + line[place + 1 :]


def remove_bytes(rng: Random, line: bytes) -> bytes:
    """Remove a few bytes."""
    place = rng.randrange(len(line) + 1)
    return line[:place] + line[place + rng.choice((1, 1, 1, 2, 9)) :]


def repeat_bytes(rng: Random, line: bytes) -> bytes:
    """Repeat a part, or all of it."""
    first, last = sorted(rng.randrange(len(line) + 1) for _ in range(2))
    return rng.choice((line[:last] + line[first:], line + line, line + b" " + line))


def cut_off(rng: Random, line: bytes) -> bytes:
    """Keep only the first bytes."""
    return line[: rng.randrange(len(line) + 1)]


def without_quotes(rng: Random, line: bytes) -> bytes:
    """Remove the quotes of a string, or put others in their place."""
    parts = line.split(b'"')
    place = rng.randrange(len(parts) // 2 or 1) * 2 + 1
    if place + 1 >= len(parts):
        return line
    quote = rng.choice((b"", b"'", b"`"))
    before, after = b'"'.join(parts[:place]), b'"'.join(parts[place + 1 :])
    return before + quote + parts[place] + quote + after


def nested(rng: Random, line: bytes) -> bytes:
    """Put the line, or one of its values, into many lists."""
    depth = rng.choice(DEPTHS[:-1] * 8 + DEPTHS)
    place = rng.choice((0, line.find(b"0") + 1))
    rest = line if place == 0 else b"0" + line[place:]
    inner = rest if place == 0 else rest[:1]
    lists = b"[" * depth + inner + b"]" * rng.choice((depth, depth, 0))
    return line[: max(place - 1, 0)] + lists + (b"" if place == 0 else rest[1:])


IN_VALUE: tuple[Callable[[Random, Any], None], ...] = (
    *[change_number] * 8,
    *(replace_value, remove_value, repeat_value, move_value, move_value, rename_key),
)
IN_BYTES: tuple[Callable[[Random, bytes], bytes], ...] = (
    *(insert_bytes, replace_byte, remove_bytes, repeat_bytes, cut_off),
    *(insert_bytes, replace_byte, without_quotes, nested),
)
