"""The runs of `benchmarks.upstream` as Markdown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from benchmarks.peers import OURS
from benchmarks.upstream_runs import FIGURES, Line

SHARES: Final = (0, 5, 50, 95, 100)
"""Percentages of the columns of quantiles."""
MEANT: Final = {
    "score": "KIP-54's score",
    "squares": "sum of squares",
    "moves": "moves",
    "far": "far from its replicas",
}
Group = dict[tuple[str, str, str], list[Line]]


def page_part(lines: Iterable[Line]) -> str:
    """Write the setting, the answers, the differences, and the gaps to the optimum."""
    lines = list(lines)
    groups = grouped(lines)
    apart = {key: rows for key, rows in groups.items() if _differ(rows)}
    parts = [
        _about(lines),
        "### Answers",
        _table(_ANSWERS, _answers(groups)),
        "### Kafka's less ours",
        _left_out(len(groups), len(apart)),
        _table(_QUANTILES, _differences(apart)),
        "### Moves, Kafka's less ours: how many rebalances",
        _table(_HISTOGRAM, _histogram(apart)),
        "### Both less the optimum",
        _table(_OPTIMUM, _against_optimum(groups)),
    ]
    return "\n\n".join(parts) + "\n"


def _left_out(n_rows: int, n_apart: int) -> str:
    return (
        f"Of the {n_rows} rows above, {n_rows - n_apart} are left out here: loads, "
        "moves and racks of all their answers are the same."
    )


def _differ(rows: Iterable[Line]) -> bool:
    """Return whether an answer differs from ours in a figure."""
    return any(row["theirs"] != row["ours"] for row in rows if "theirs" in row)


def grouped(lines: Iterable[Line]) -> Group:
    """Group runs by release, assignor, and kind; merge releases that always agree."""
    apart: Group = defaultdict(list)
    for line in lines:
        apart[line["kafka"], line["assignor"], line["kind"]].append(line)
    versions: dict[str, list[str]] = defaultdict(list)
    for kafka, name, _ in apart:
        if kafka not in versions[name]:
            versions[name].append(kafka)
    kinds = list(dict.fromkeys(key[2] for key in apart))
    together: Group = {}
    for name, (newest, *older) in versions.items():
        same = [
            kafka
            for kafka in older
            if all(
                _said(apart[kafka, name, kind]) == _said(apart[newest, name, kind])
                for kind in kinds
            )
        ]
        for kafka in (newest, *(release for release in older if release not in same)):
            releases = ", ".join([kafka, *(same if kafka == newest else [])])
            together |= {
                (releases, name, kind): apart[kafka, name, kind] for kind in kinds
            }
    return together


def _said(lines: Iterable[Line]) -> list[object]:
    return [(line["seed"], line["verdict"], line.get("theirs")) for line in lines]


def _about(lines: Sequence[Line]) -> str:
    stated = sorted({(line["date"], line["machine"]) for line in lines})
    dates = "; ".join(f"{date} on {machine}" for date, machine in stated)
    counts = Counter(line["kind"] for line in lines)
    runs = len({(line["kafka"], line["assignor"]) for line in lines})
    kinds = "; ".join(f"{kind}: {count // runs}" for kind, count in counts.items())
    versions = " and ".join(sorted({line["kafka"] for line in lines}, reverse=True))
    return (
        f"Run {dates}. Kafka {versions}. Rebalances of each kind, seeds from 0 on: "
        f"{kinds}. {len(lines):,} runs. Releases in one row answered the same."
    )


_ANSWERS: Final = (
    "Kafka",
    "assignor",
    "rebalances",
    "number",
    "equal to ours",
    "same loads",
    "no valid answer, and why",
)


def _answers(groups: Group) -> Iterator[tuple[str, ...]]:
    for key, rows in groups.items():
        answered = [row for row in rows if "theirs" in row]
        faults = Counter(row["verdict"] for row in rows if "theirs" not in row)
        counts = ", ".join(f"{n} {verdict}" for verdict, n in sorted(faults.items()))
        same = sum(
            row["theirs"]["squares"] == row["ours"]["squares"] for row in answered
        )
        equal = sum(row["equal"] for row in answered)
        yield (
            *_named(key),
            str(len(rows)),
            _share(equal, len(answered)),
            _share(same, len(answered)),
            counts or "0",
        )


_QUANTILES: Final = (
    "Kafka",
    "assignor",
    "rebalances",
    "figure",
    *("least" if s == 0 else "most" if s == 100 else f"{s} %" for s in SHARES),
    "mean",
    "ours better",
    "Kafka's better",
)


def _differences(groups: Group) -> Iterator[tuple[str, ...]]:
    for key, rows in groups.items():
        for figure in FIGURES:
            found = _less(rows, "theirs", "ours", figure)
            if found.any():
                yield (
                    *_named(key),
                    MEANT[figure],
                    *(f"{np.percentile(found, s, method='lower'):g}" for s in SHARES),
                    f"{found.mean():+.3f}",
                    _share(int((found > 0).sum()), found.size),
                    _share(int((found < 0).sum()), found.size),
                )


BARS: Final[tuple[tuple[str, Callable[[int], bool]], ...]] = (
    ("-8 and less", lambda n: n <= -8),
    ("-7 to -4", lambda n: -7 <= n <= -4),
    ("-3 to -2", lambda n: -3 <= n <= -2),
    ("-1", lambda n: n == -1),
    ("0", lambda n: n == 0),
    ("1", lambda n: n == 1),
    ("2 to 3", lambda n: 2 <= n <= 3),
    ("4 to 7", lambda n: 4 <= n <= 7),
    ("8 and more", lambda n: n >= 8),
)
"""The bars of a histogram, and the range of each."""
_HISTOGRAM: Final = ("Kafka", "assignor", "rebalances", *(name for name, _ in BARS))


def _histogram(groups: Group) -> Iterator[tuple[str, ...]]:
    for key, rows in groups.items():
        found = _less(rows, "theirs", "ours", "moves").tolist()
        if any(found):
            counts = (sum(map(is_in, found)) for _, is_in in BARS)
            yield (*_named(key), *map(str, counts))


_OPTIMUM: Final = (
    "Kafka",
    "assignor",
    "rebalances",
    "dec-min: ours",
    "Kafka's",
    "score above: ours, mean",
    "Kafka's",
    "ours, most",
    "Kafka's",
    "moves above: ours, mean",
    "Kafka's",
    "ours, most",
    "Kafka's",
)


def _against_optimum(groups: Group) -> Iterator[tuple[str, ...]]:
    for key, rows in groups.items():
        cells = []
        both = [row for row in rows if "theirs" in row]
        if not both:
            continue
        for figure in ("squares", "score", "moves"):
            found = [_less(both, who, "optimum", figure) for who in ("ours", "theirs")]
            if figure == "squares":
                cells += [_share(int((less == 0).sum()), less.size) for less in found]
            else:
                cells += [f"{less.mean():.2f}" for less in found]
                cells += [f"{less.max():g}" for less in found]
        yield (*_named(key), *cells)


def _less(rows: Iterable[Line], who: str, other: str, figure: str) -> np.ndarray:
    return np.array(
        [row[who][figure] - row[other][figure] for row in rows if "theirs" in row],
        dtype=np.int64,
    )


def _named(key: tuple[str, str, str]) -> tuple[str, str, str]:
    return key[0], OURS[key[1]], key[2]


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else ""


def _table(head: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    ruled = ["---"] * 3 + ["---:"] * (len(head) - 3)
    every = [tuple(head), tuple(ruled), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in every)
