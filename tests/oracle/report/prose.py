"""Read the sentences of a page, and check each number in them against the tables.

A sentence with a number that no check below recognizes is an error, so that none can be
added without one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from tests.oracle.report.advice_check import check_advice
from tests.oracle.report.html_reading import Element
from tests.oracle.report.reading_prose import NAME, Match, N, number, numbers, text_of
from tests.oracle.report.worst_cases import check_case
from tests.references.recount import Recount

Check: TypeAlias = Callable[[Recount, Match], bool]

BLOCKS = ("title", "h1", "h2", "h3", "p", "li", "figcaption")
SKIPPED = ("table", "svg", "style", "script", "pre", "nav")
CASES = "case"
"""Class of the worst rebalances, each of which is checked against its own row."""


def sentences(root: Element) -> Iterator[str]:
    """Yield the text of each block; names from the input are in ``⟨⟩``."""
    for element in root.children:
        classes = element.attributes.get("class", "").split()
        if element.tag in SKIPPED:
            for caption in element.all("caption"):
                yield text_of(caption)
        elif CASES in classes or (element.tag == "ul" and "legend" in classes):
            continue
        elif element.tag == "dl":
            terms = [part for part in element.all() if part.tag in ("dt", "dd")]
            for term, meaning in batched(map(text_of, terms), 2):
                yield f"{term} = {meaning}"
        elif element.tag in BLOCKS:
            yield text_of(element)
        else:
            yield from sentences(element)


def batched(texts: Iterable[str], size: int) -> Iterator[tuple[str, ...]]:
    """Yield tuples of ``size`` texts, as `itertools.batched` does from Python 3.12."""
    one = iter(texts)
    return zip(*[one] * size, strict=True)


def percent(part: int, whole: int) -> str:
    exact = 100 * part / whole
    if 0 < exact < 0.5:
        return "<1 %"
    if 99.5 <= exact < 100:
        return ">99 %"
    return f"{round(exact)} %"


def check_all(root: Element, tables: Recount) -> list[str]:
    """Check every sentence, and all advice; return what has a number, to count it.

    Raises
    ------
    AssertionError
        If a sentence is false, or has a number that nothing checks.
    """
    for case in root.all("details", class_=CASES):
        check_case(case, tables)
    found = []
    for sentence in sentences(root):
        rest = sentence
        for pattern, check in CHECKS:
            while match := pattern.search(rest):
                assert check(tables, match), f"false: {sentence}"
                rest = rest[: match.start()] + " " + rest[match.end() :]
        rest = re.sub(NAME, "", rest)
        assert not re.search(r"\d", rest), f"unchecked: {sentence!r}, left {rest!r}"
        if re.search(r"\d", sentence):
            found.append(sentence)
    return [*found, *check_advice(root, tables)]


# Checks, sentence by sentence.


def _headline_wrong(t: Recount, m: Match) -> bool:
    words = {
        "needless": "moved partitions needlessly",
        "unbalanced": "left the group unbalanced",
        "invalid": "violated a rule",
    }
    said = all((words[name] in m[3]) == (t.outcomes[name] > 0) for name in words)
    return said and [number(m[1]), number(m[2])] == [t.wrong, t.judged]


def _states_judged(t: Recount) -> int:
    return t.states["balanced"] + t.states["unbalanced"] + t.states["invalid"]


def _headline_states(t: Recount, m: Match) -> bool:
    said = dict.fromkeys(("unbalanced", "invalid"), 0)
    for count, name in re.findall(rf"{N} (?:is|are) (unbalanced|invalid)", m[2]):
        said[name] = number(count)
    only = re.fullmatch(rf"{N} (?:is|are) balanced", m[2])
    if only is not None and number(only[1]) != t.states["balanced"]:
        return False
    is_told = said == {name: t.states[name] for name in said}
    counted = t.states.total() - t.states["recorded"]
    return bool(is_told and number(m[1]) == counted and not t.judged)


def _if_equal(t: Recount, is_balanced: bool) -> int:
    return sum(
        row["balanced_if_equal"] is is_balanced
        for row in t.tables["snapshots"]
        if row["state_of"] is None and row["undetermined"] is not None
    )


def _undetermined(t: Recount, m: Match) -> bool:
    reasons = [str(row["undetermined"]) for row in t.tables["snapshots"]]
    return number(m[1]) == reasons.count(m[2])


def _example(t: Recount, m: Match) -> bool:
    groups = t.sticky_groups(least=5)
    counts = groups[m[1], m[2]]
    wrong = {name: counts[name] for name in ("needless", "unbalanced", "invalid")}
    words = {"with needless moves": "needless"}
    said = {
        words.get(what, what): number(count)
        for count, what in re.findall(
            rf"{N} (with needless moves|unbalanced|invalid)", m[5]
        )
    }
    total, judged = sum(wrong.values()), counts.total() - counts["open"]
    worst = max(
        sum(group[name] for name in wrong) / (group.total() - group["open"])
        for group in groups.values()
    )
    return (
        said == {name: count for name, count in wrong.items() if count}
        and [number(m[3]), number(m[4])] == [total, judged]
        and total / judged == worst
    )


def _more_groups(t: Recount, m: Match) -> bool:
    """Check the rows that the tables of clients' episodes or KIP-54 leave out."""
    rows = [row for row in t.tables["episodes"] if row["cooperative"]]
    counts = [len({_place(row) for row in found}) for found in (t.units, rows)]
    return number(m[1]) + 8 in counts


def _place(row: dict[str, object]) -> tuple[object, ...]:
    return row["cluster"], row["group_id"], row["client_assignor"]


def _at_lag_bound(t: Recount, m: Match) -> bool:
    found = t.lag_at_bound()
    most = max(
        at / known
        for name, (at, known) in found.items()
        if name not in ("optimum", "kip54-sticky", "actual")
    )
    said = [number(group) for group in m.groups()[1:]]
    return said == [*found[m[1]], *found["optimum"]] and said[0] / said[1] == most


def _endless(t: Recount, m: Match) -> bool:
    return numbers(m) == [len(t.endless(30, 3, 10)), 30, 3, 10]


def _lag_days(t: Recount, m: Match) -> bool:
    rows = [r for r in t.tables["answers"] if r["assignor"] == "actual"]
    days = sorted(t.days)[-92:]
    rows = [r for r in rows if r["date"] in days and r["verdict"] == "valid"]
    known = [r for r in rows if None not in (r["peak_lag"], r["peak_lag_bound"])]
    return numbers(m) == [len(known)]


def _tally(column: str, table: str = "rebalances") -> Check:
    def check(t: Recount, m: Match) -> bool:
        counts: dict[str, int] = {}
        for row in t.tables[table]:
            value = "unknown" if row[column] is None else row[column]
            counts[value] = counts.get(value, 0) + 1
        said = [number(found) for found in re.findall(rf"⟩? \({N}\)", m[0])]
        return said == sorted(counts.values(), reverse=True)

    return check


def _extent(t: Recount, m: Match) -> bool:
    rows = t.tables["rebalances"]
    groups = {(row["cluster"], row["group_id"]) for row in rows}
    most = [max(row[name] for row in rows) for name in ("members", "partitions")]
    return numbers(m) == [len(groups), *most]


def _time(t: Recount, m: Match) -> bool:
    times = [row["at"] for row in t.tables["rebalances"] if row["at"] is not None]
    said = [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in (min(times), max(times))]
    return list(m.groups()) == said


def _snapshots(t: Recount, m: Match) -> bool:
    rows = t.tables["snapshots"]
    groups = {(row["cluster"], row["group_id"]) for row in rows}
    is_told = _tally("subscriptions", "snapshots")(t, m)
    return is_told and numbers(m) == [len(rows), len(groups)]


def _made(t: Recount, m: Match) -> bool:
    versions, machine = t.manifest["versions"], t.manifest["machine"]
    text = m[0]
    gibibytes = round(machine["memory_bytes"] / 2**30)
    parts = [
        versions["assignor-oracle"],
        t.manifest["finished"],
        f"{machine['system']}, {machine['cores']} cores, {gibibytes} GiB",
    ]
    names = ("python", "numpy", "pyarrow", "pyspark", "java")
    parts += [str(versions[name]) for name in names if name in versions]
    for part in parts:
        assert part in text, part
        text = text.replace(part, "", 1)
    return not re.search(r"\d", text)


def _reasons(t: Recount, m: Match) -> bool:
    rows = t.tables["quarantine"]
    reasons = {(row["kind"], row["record"], row["reason"]) for row in rows}
    return number(m[1]) == len(reasons) - 20


def _sources(t: Recount, m: Match) -> bool:
    rows = t.tables["rebalances"] + t.tables["snapshots"]
    return number(m[1]) == len({row["source"] for row in rows}) - 12


_SENTENCES: list[tuple[str, Check]] = [
    (
        rf"In {N} of {N} rebalances the assignment ([a-z ,]+)",
        _headline_wrong,
    ),
    (
        rf"{N} rebalances?, each at the optimum: no assignment would be better",
        lambda t, m: numbers(m) == [t.judged] and t.wrong == 0,
    ),
    (
        "No rebalance in this source could be judged",
        lambda t, _: not t.judged and not t.states.total() - t.states["recorded"],
    ),
    (rf"Of {N} snapshots?, ([^.·]+)", _headline_states),
    (
        "The balance of no snapshot in this source can be determined",
        lambda t, _: not _states_judged(t) and t.states["undetermined"] > 0,
    ),
    (
        rf"sticky assignor with the worst results: in group {NAME} \({NAME}\),"  # noqa: ISC004
        rf" {N} of {N} rebalances were not optimal: ([\w ,]+)\.",
        _example,
    ),
    (
        "For every rebalance, the optimum was computed and proved",
        lambda t, _: t.proved == t.generations,
    ),
    (
        rf"For {N} of {N} generations?, the optimum was computed and proved",
        lambda t, m: numbers(m) == [t.proved, t.generations],
    ),
    (
        rf"{N} generations? could be read, but without an assignment",
        lambda t, m: numbers(m) == [t.generations] and not t.judged,
    ),
    (
        "The source contains snapshots of groups, not rebalances",
        lambda t, _: not t.generations and bool(t.tables["snapshots"]),
    ),
    (
        rf"The balance of {N} (?:other )?snapshots? cannot be determined",
        lambda t, m: numbers(m) == [t.states["undetermined"]],
    ),
    (
        rf"rebalances judged, in {N} groups? = {N}",
        lambda t, m: numbers(m) == [len(t.judged_groups), t.judged],
    ),
    (
        r"of them at the optimum = (.+ %)",
        lambda t, m: m[1] == percent(t.outcomes["optimum"], t.judged),
    ),
    (
        rf"needless moves, in {N} rebalances? = {N}",
        lambda t, m: numbers(m) == [t.outcomes["needless"], t.needless_moves],
    ),
    (
        rf"unbalanced: more balanced loads are possible = {N}",
        lambda t, m: numbers(m) == [t.outcomes["unbalanced"]],
    ),
    (
        rf"invalid, such as an unassigned partition = {N}",
        lambda t, m: numbers(m) == [t.outcomes["invalid"]],
    ),
    (rf"and {N} more groups? with fewer needless moves", _more_groups),
    (
        rf"([a-z][a-z-]+) is at that bound in {N} of {N} generations, the"  # noqa: ISC004
        rf" optimum in {N} of {N}\.",
        _at_lag_bound,
    ),
    (
        rf"{N} groups? rebalances? without coming to rest: at least {N}"  # noqa: ISC004
        rf" generations in each of {N} consecutive clock hours, or a"
        rf" cooperative rebalance of at least {N} rounds",
        _endless,
    ),
    (rf"Lag is known of {N} generations?", _lag_days),
    (
        rf"The last {N} days are shown, {N} days? before them (?:is|are) left out",
        lambda t, m: numbers(m) == [92, len(t.days) - 92],
    ),
    (
        rf"covers all rows but the last {N}",
        lambda t, m: 0 < number(m[1]) < len({_place(row) for row in t.units}),
    ),
    (
        rf"In addition, {N} rebalances? could not be classified",
        lambda t, m: numbers(m) == [t.outcomes["open"]],
    ),
    (
        rf"were run on the same {N} generations?, each separately",
        lambda t, m: numbers(m) == [t.generations],
    ),
    (
        rf"subscribe to the same topics: {N} balanced and {N} unbalanced",
        lambda t, m: numbers(m) == [_if_equal(t, True), _if_equal(t, False)],
    ),
    (rf"^{N} snapshots? = (.+)$", _undetermined),
    (
        rf"{N} snapshots? shows? a state that the records contain",
        lambda t, m: numbers(m) == [t.states["recorded"]],
    ),
    ("No records were excluded", lambda t, _: not t.tables["quarantine"]),
    (rf"and {N} more reasons", _reasons),
    (rf"⟩ and {N} more$", _sources),
    (rf"^groups = {N}, up to {N} members? and {N} partitions?", _extent),
    (
        rf"{N} \(generations; a cooperative rebalance has several\)",
        lambda t, m: numbers(m) == [t.generations],
    ),
    (rf"^snapshots = {N} of {N} groups?; subscriptions: .*$", _snapshots),
    (r"([\d-]+ [\d:]+) UTC to ([\d-]+ [\d:]+) UTC", _time),
    ("Made by assignor oracle .*", _made),
    (r"KIP-\d+", lambda _, __: True),
    ("each row adds up to 100, apart from rounding", lambda _, __: True),
]
_TALLIES = {
    "assignors of clients": "client_assignor",
    "protocol": "protocol",
    "partition counts as of then": "partition_counts",
    "owners before": "owned_from",
    "subscriptions": "subscriptions",
    "lag": "lag_basis",
}
CHECKS = [(re.compile(pattern), check) for pattern, check in _SENTENCES] + [
    (re.compile(rf"^{name} = (.*)$"), _tally(column))
    for name, column in _TALLIES.items()
]
