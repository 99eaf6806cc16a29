"""Tables of the peak-lag ablations: ``python -m benchmarks.ablation_table``.

Read the recorded runs (`docs/data/ablation.jsonl`) and print their tables as Markdown,
or put them into a page with ``--page docs/ablation.md``. The runs cannot be repeated
with the current code, because the parts that they switch off are no longer in it. The
code before the removal is commit a38216e.

The runs were made by a driver that replaced a part by a stub that returns nothing. It
did not search the second level of lag-sticky, on which no part acts. A limit of 3 s
applied to every solve, counted in CPU time of the process: `solver.limits` read the
process clock instead of the wall clock, and CP-SAT and GLOP were interrupted by that
clock. Kernels were compiled and libraries imported before the first run; a run that
compiled a kernel was repeated.

One line per run:

- ``instance``: size / lags / subscriptions (homogeneous or heterogeneous) / capacities
  or none / policy / seed.
- ``without``: the parts that were switched off, joined by ``+``; empty for none.
- ``active``: in runs with all parts, the parts that can have changed the result: a
  bound that raised the bound known so far, a search whose conditions were met. Without
  a part that is not active the engine does the same work; such a run was not made, and
  the run with all parts counts in its place.
- ``proved``: whether peak lag is proved minimal; ``value`` and ``bound`` of peak lag in
  units of 1 / scale; ``cpu_s``, CPU seconds.
- ``terms``: for ``max-moves`` without `budget`, the largest bound by terms.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.result_page import write_into

Line = dict[str, Any]
Runs = dict[str, Line]
"""The runs of one instance by the parts that were switched off."""


class EnginePart(NamedTuple):
    """One or several parts of the engine, with the lines of solver and judge."""

    name: str
    without: frozenset[str]
    lines: str


_SMALL_FOUR: Final = frozenset({"company", "beside", "duals", "busy"})
PARTS: Final = (
    EnginePart("`company`", frozenset({"company"}), "58 + 55"),
    EnginePart("`beside`", frozenset({"beside"}), "57 + 0"),
    EnginePart("`duals`", frozenset({"duals"}), "146 + 75"),
    EnginePart("`busy`", frozenset({"busy"}), "86 + 0"),
    EnginePart("these four", _SMALL_FOUR, "347 + 130"),
    EnginePart("`cover`", frozenset({"cover"}), "632 + 0"),
    EnginePart("`cover` and the four", _SMALL_FOUR | {"cover"}, "979 + 130"),
    EnginePart("`pack`", frozenset({"pack"}), "382 + 50"),
    EnginePart("`subset`", frozenset({"subset"}), "87 + 0"),
    EnginePart("`crowd`", frozenset({"crowd"}), "190 + 100"),
    EnginePart("`topic-crowd`", frozenset({"topic-crowd", "beside"}), "106 + 0"),
)
_ALL: Final = EnginePart("nothing", frozenset(), "")
_REMOVED: Final = PARTS[6]
_SMALL: Final = 60  # partitions
_DATA: Final = Path(__file__).parent.parent / "docs" / "data" / "ablation.jsonl"


def main() -> None:
    """Print the tables, or put them into a page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=_DATA, help="JSON lines")
    parser.add_argument("--page", type=Path, help="put the tables into this page")
    arguments = parser.parse_args()
    text = arguments.data.read_text(encoding="utf-8")
    part = page_part(json.loads(line) for line in text.splitlines())
    if arguments.page:
        write_into(arguments.page, part)
    else:
        print(part)


def page_part(lines: Iterable[Line]) -> str:
    """Write all tables."""
    instances: dict[str, Runs] = defaultdict(dict)
    for line in lines:
        instances[line["instance"]][line["without"]] = line
    budget = {i: runs for i, runs in instances.items() if "budget" in runs}
    others = {i: runs for i, runs in instances.items() if i not in budget}
    tables = [
        ("Effect of each part, where it is active", _by_part(others)),
        ("Gap and time without each part, where it is active", _gaps_by_part(others)),
        ("Proved share by lags, in percent of all instances", _by(others, 1)),
        ("Proved share by policy, in percent of all instances", _by(others, 4)),
        ("The engine without `cover` and the four", _remaining(others)),
        ("Uniform lags, at most 60 partitions", _small_uniform(others)),
        ("Policies with `max-moves`", _budget(budget)),
        ("Runs", _grid(instances)),
    ]
    return "\n\n".join(f"### {title}\n\n{table}" for title, table in tables) + "\n"


def gap(run: Line, runs: Runs) -> float:
    """Return how far a value is above the largest bound known, in percent."""
    bound = max(map(_bound, runs.values()))
    return 100 * (run["value"] - bound) / bound if bound else 0.0


def without(part: EnginePart, runs: Runs) -> Line:
    """Return the run without a part; if it is not active, the run with all parts."""
    active = part.without & set(runs[""]["active"].split("+"))
    return runs["+".join(sorted(active))]


def is_active(part: EnginePart, runs: Runs) -> bool:
    """Whether a part, or one of several, can have changed the result."""
    return bool(part.without & set(runs[""]["active"].split("+")))


def reported_gap(run: Line) -> float:
    """Return how far a value is above the bound of the same run, in percent."""
    bound = run["bound"]
    return 100 * (run["value"] - bound) / bound if bound else 0.0


def _by_part(instances: dict[str, Runs]) -> str:
    """Count the effects of each part in the runs in which it is active."""
    rows = []
    for part in PARTS:
        active = [runs for runs in instances.values() if is_active(part, runs)]
        pairs = [(runs[""], without(part, runs)) for runs in active]
        value = [two["value"] - full["value"] for full, two in pairs]
        bound = [full["bound"] - two["bound"] for full, two in pairs]
        row = [part.name, part.lines, str(len(active))]
        proved = _change(*map(_share, zip(*pairs, strict=True))) if active else ""
        rows.append([*row, proved, _signs(value), _signs(bound)])
    head = ["without", "lines", "active", "proved, %", "value worse / better",
            "bound weaker / stronger"]  # fmt: skip
    return _table(head, rows)


def _signs(changes: Sequence[int]) -> str:
    worse, better = sum(n > 0 for n in changes), sum(n < 0 for n in changes)
    return f"{worse} / {better}" if changes else ""


def _gaps_by_part(instances: dict[str, Runs]) -> str:
    """Compare gaps and times with and without each active part."""
    rows = []
    for part in PARTS:
        active = [runs for runs in instances.values() if is_active(part, runs)]
        rows.append([part.name, *(_compared(active, part)[1:] if active else [""] * 4)])
    return _table(["without", *_COMPARED[1:]], rows)


_COMPARED: Final = (
    "proved, %",
    "worst gap, %",
    "median, %",
    "reported, %",
    "CPU s",
)


def _compared(group: Sequence[Runs], part: EnginePart) -> list[str]:
    """Compare runs with all parts and without one, in five cells."""
    before = [runs[""] for runs in group]
    after = [without(part, runs) for runs in group]
    gaps = [gap(run, runs) for run, runs in zip(before, group, strict=True)]
    left = [gap(run, runs) for run, runs in zip(after, group, strict=True)]
    reported = [max(map(reported_gap, runs)) for runs in (before, after)]
    return [
        _change(_share(before), _share(after)),
        _change(_number(max(gaps)), _number(max(left))),
        _number(statistics.median(left)),
        _change(*map(_number, reported)),
        _change(_seconds(before), _seconds(after)),
    ]


def _change(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _by(instances: dict[str, Runs], place: int) -> str:
    """Show the proved share of all instances by a part of their names."""
    groups: dict[str, list[Runs]] = defaultdict(list)
    for instance, runs in instances.items():
        groups[instance.split("/")[place]].append(runs)
    rows = [
        [
            part.name,
            *(
                _share([without(part, by_part) for by_part in group])
                for group in groups.values()
            ),
        ]
        for part in (_ALL, *PARTS)
    ]
    heads = [f"{kind} ({len(group)})" for kind, group in groups.items()]
    return _table(["without", *heads], rows)


def _remaining(instances: dict[str, Runs]) -> str:
    """Compare all parts with the rest; leave out groups that are proved without."""
    groups: dict[tuple[str, str, str], list[Runs]] = defaultdict(list)
    for instance, runs in instances.items():
        size, lags, subscriptions, capacities, *_ = instance.split("/")
        groups[size, _members(subscriptions, capacities), lags].append(runs)
    rows = [
        [*key, str(len(group)), *_compared(group, _REMOVED)]
        for key, group in sorted(groups.items(), key=lambda item: _size(item[0][0]))
        if not all(without(_REMOVED, runs)["proved"] for runs in group)
    ]
    return _table(["size", "members", "lags", "n", *_COMPARED], rows)


def _small_uniform(instances: dict[str, Runs]) -> str:
    """Compare all parts with the remaining ones, where `cover` mattered most."""
    groups: dict[tuple[str, str, str], list[Runs]] = defaultdict(list)
    for instance, runs in instances.items():
        size, lags, subscriptions, capacities, policy, _ = instance.split("/")
        if lags == "uniform" and _size(size)[0] <= _SMALL:
            groups[size, _members(subscriptions, capacities), policy].append(runs)
            groups["all", "", ""].append(runs)
    together = groups.pop(("all", "", ""), [])
    ordered = sorted(groups.items(), key=lambda item: _size(item[0][0]))
    rows = [
        [*key, str(len(group)), *_compared(group, _REMOVED)]
        for key, group in [*ordered, (("all", "", ""), together)]
    ]
    return _table(["size", "members", "policy", "n", *_COMPARED], rows)


def _members(subscriptions: str, capacities: str) -> str:
    return subscriptions + ("" if capacities == "nocap" else " + cap")


def _size(name: str) -> tuple[int, ...]:
    return tuple(map(int, name.split("x")))


def _budget(instances: dict[str, Runs]) -> str:
    """Compare `budget` with CP-SAT alone, and with CP-SAT and the bounds by terms."""
    groups: dict[tuple[str, str], list[Runs]] = defaultdict(list)
    for instance, runs in instances.items():
        _, lags, subscriptions, *_ = instance.split("/")
        groups[subscriptions, lags].append(runs)
        groups["all", ""].append(runs)
    rows = []
    for key, group in sorted(groups.items(), key=lambda item: item[0][0] == "all"):
        every, alone = [runs[""] for runs in group], [runs["budget"] for runs in group]
        by_terms = [{**run, "proved": run["value"] <= _bound(run)} for run in alone]
        gaps = [max(gap(runs[name], runs) for runs in group) for name in ("", "budget")]
        rows.append(
            [
                *key,
                str(len(group)),
                _share(every),
                _share(alone),
                _share(by_terms),
                _change(*map(_number, gaps)),
                _change(_seconds(every), _seconds(alone)),
            ]
        )
    head = ["members", "lags", "n", "`budget`", "CP-SAT", "CP-SAT and terms",
            "worst gap, %", "CPU s"]  # fmt: skip
    return _table(head, rows)


def _bound(run: Line) -> int:
    return max(int(run["bound"]), int(run.get("terms", 0)))


def _grid(instances: dict[str, Runs]) -> str:
    """Count instances and seeds by size, subscriptions, capacities and policy."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for instance in instances:
        size, _, subscriptions, capacities, policy, _ = instance.split("/")
        groups[size, subscriptions, capacities, policy].append(instance)
    rows = [
        [
            *key,
            _seeds(group),
            str(sum(len(instances[name]) for name in group)),
        ]
        for key, group in sorted(groups.items(), key=lambda item: _size(item[0][0]))
    ]
    head = ["size", "subscriptions", "capacities", "policy", "seeds", "runs"]
    return _table(head, rows)


def _seeds(instances: Iterable[str]) -> str:
    """Count seeds; where they differ by lags, from the fewest to the most."""
    counts = Counter(instance.split("/")[1] for instance in instances).values()
    return "–".join(map(str, sorted({min(counts), max(counts)})))


def _share(runs: Sequence[Line]) -> str:
    return f"{100 * sum(run['proved'] for run in runs) / len(runs):.0f}"


def _seconds(runs: Sequence[Line]) -> str:
    return f"{statistics.median(run['cpu_s'] for run in runs):.2f}"


def _number(value: float) -> str:
    return f"{value:.4f}" if 0 < value < 1 else f"{value:.3g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    ruled = ["---" if place == 0 else "---:" for place in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ruled, *rows))


if __name__ == "__main__":
    main()
