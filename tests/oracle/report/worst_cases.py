"""Check the sentences about one of the worst rebalances against its row."""

from __future__ import annotations

import json
import re
from itertools import groupby, pairwise
from typing import Any

from oracle.names import visible
from tests.oracle.report.html_reading import Element
from tests.oracle.report.reading_prose import NAME, N, number, text_of
from tests.references.recount import Recount

Row = dict[str, Any]
Held = dict[str, dict[str, list[int]]]
RULES = {
    "unassigned": "assigned to no member, although a member subscribes",
    "unsubscribed": "assigned to a member that does not subscribe to the topic",
    "assigned-twice": "assigned to several members",
    "unknown-member": "assigned to a member that is not in the group",
    "unknown-partition": "assigned although it does not exist",
    "unrevoked": "assigned before its owner had revoked it",
}
TIME = r"(?:, (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC)?"
LOADS = r"([\d×, …]+)"


def check_case(case: Element, tables: Recount) -> None:
    """Check all sentences of a case.

    Raises
    ------
    AssertionError
        If one is false, or contains a number that is not checked.
    """
    title = text_of(case.all("summary")[0].one("strong"))
    said = text_of(case.all("summary")[0].one("span", class_="said"))
    row = _row(title, said, tables)
    held: Held = json.loads(row["assignment"])["members"]
    instance: Row = json.loads(row["instance"])
    loads = sorted((_load(held, name) for name in instance["members"]), reverse=True)
    best = None
    if said.startswith("Moved"):
        least = row["moves_least"]
        words = f"{least:,}" if least else "none"
        assert said == (
            f"Moved {_counted(row['moves'], 'partition')}; {words}"
            f" {'was' if least <= 1 else 'were'} needed for optimal loads."
        )
    elif said.startswith("Loads"):
        match = re.fullmatch(
            rf"Loads \(partitions × members\) {LOADS}\. Optimal: {LOADS}\.", said
        )
        assert match, said
        assert match[1] == _loads_text(loads)
        best = match[2]
        if "…" not in best:
            assert _score(_loads_of(best)) == row["kip54_score_least"] < _score(loads)
            assert sum(_loads_of(best)) == sum(loads)
    else:
        _check_violations(said, row)
    summaries = case.all("summary")[1:]
    for paragraph in (*case.all("p"), *case.all("li"), *summaries):
        _check_paragraph(text_of(paragraph), case, row, held, instance)
    if best is not None and "Its certificate" in case.text:
        assert f"with loads {best} keeps" in case.text


def _row(title: str, said: str, tables: Recount) -> Row:
    """Return the row that a case shows, with its instance."""
    match = re.fullmatch(rf"(?:{NAME} / )?{NAME}{TIME}(?:, generation {N})?", title)
    assert match, title
    cluster, group, time, generation = match.groups()
    kinds = {"Moved": "needless", "Loads": "unbalanced"}
    kind = kinds.get(said.split(maxsplit=1)[0], "invalid")
    instances = {r["rebalance_id"]: r["instance"] for r in tables.tables["rebalances"]}
    found = []
    for unit in tables.units:
        rows = [unit]
        if "episode_id" in unit and unit["outcome"] == "invalid":
            rows = tables.broken_rounds(unit["episode_id"])[:1] or [unit]
        for row in rows:
            number_of = row.get("generation", row.get("last_generation"))
            if (
                unit["outcome"] == kind
                and visible(row["group_id"]) == group
                and (cluster is None or visible(row["cluster"]) == cluster)
                and _time(row, tables) == time
                and (None if number_of is None else f"{number_of}") == generation
            ):
                instance = row.get("instance") or instances[row["rebalance_id"]]
                found.append(row | {"instance": instance})
    assert len(found) == 1, (title, said, len(found))
    return found[0]


def _time(row: Row, tables: Recount) -> str | None:
    """Return the time of a rebalance, of a cooperative one that of its last round."""
    of_episode = row.get("ended_at")
    recorded = {r["rebalance_id"]: r["at"] for r in tables.tables["rebalances"]}
    at = recorded[row["rebalance_id"]] if "rebalance_id" in row else of_episode
    return None if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def _check_violations(said: str, row: Row) -> None:
    """Compare each rule's count and example with the violations of the row."""
    broken = row.get("violations") or []
    rules: dict[str, set[tuple[str, int]]] = {}
    for violation in broken:
        rules.setdefault(violation["rule"], set()).add(
            (violation["topic"], violation["partition"])
        )
    parts = said.removesuffix(".").split("; ")
    assert len(parts) == len(rules) or not broken
    for part in parts:
        what = rf"{N} partitions?, such as {NAME} {N}, ([^(⟨]+?)"
        match = re.fullmatch(rf"(?:at least )?{what}(?: \({NAME}\))?", part)
        assert match, part
        (rule,) = (name for name, words in RULES.items() if words == match[4])
        assert number(match[1]) == len(rules[rule]), (said, broken)
        assert any(
            violation["rule"] == rule
            and visible(violation["topic"]) == match[2]
            and violation["partition"] == number(match[3])
            and (match[5] is None or visible(violation["member"]) == match[5])
            for violation in broken
        )


def _check_paragraph(
    text: str, case: Element, row: Row, held: Held, instance: Row
) -> None:
    loads = {visible(name): _load(held, name) for name in instance["members"]}
    if match := re.search(rf"{NAME} had {N} partitions?, {NAME} {N}\. These", text):
        giver, taker = match[1], match[3]
        said = [number(match[2]), number(match[4])]
        assert said == [loads[giver], loads[taker]]
        assert said[0] - said[1] >= 2
        _check_chain(case, giver, taker, held, instance)
    elif match := re.search(
        rf"Of {N} owned partitions? the optimum keeps {N}\. Its .* more than {N}\.",
        text,
    ):
        owned, least = _owned(row), row["moves_least"]
        assert [number(group) for group in match.groups()] == [
            owned,
            owned - least,
            owned - least,
        ]
        why = "no move was needed" if not least else f"{_counted(least, 'move')} "
        assert f"Why {why}" in text
    elif match := re.search(rf"and {N} more members? with fewer differences", text):
        names = {*instance["members"], *held}
        shown, others = (
            [r for r in table.rows()[1:] if r[0] != "nobody"]
            for table in case.all("table", class_="holdings")
        )
        assert number(match[1]) == len(names) - len(shown)
        assert number(match[1]) == len(others) + sum(
            number(left[1])
            for paragraph in case.all("p")
            if (left := re.match(rf"and {N} more members?, whose", text_of(paragraph)))
        )
    elif re.match(rf"and {N} more members?, whose partitions", text):
        assert case.all("details", class_="others")
    elif not re.fullmatch(rf"{NAME} {N} from {NAME} to {NAME}", text):
        assert not re.search(r"\d", re.sub(NAME, "", text)), text


def _check_chain(
    case: Element, giver: str, taker: str, held: Held, instance: Row
) -> None:
    """Check that each transfer is possible, and that they form a chain."""
    hops = [
        re.fullmatch(rf"{NAME} {N} from {NAME} to {NAME}", text_of(item))
        for item in case.one("ul", class_="chain").all("li")
    ]
    wants = {
        visible(m): member["subscription"] for m, member in instance["members"].items()
    }
    has = {visible(name): topics for name, topics in held.items()}
    ends = []
    for hop in hops:
        assert hop
        topic = next(t for t in has[hop[3]] if visible(t) == hop[1])
        assert number(hop[2]) in has[hop[3]][topic]
        assert topic in wants[hop[4]]
        ends.append((hop[3], hop[4]))
    assert (ends[0][0], ends[-1][1]) == (giver, taker)
    assert all(end[1] == other[0] for end, other in pairwise(ends))


def _owned(row: Row) -> int:
    """Return the owned partitions: kept and moved by the client."""
    if row.get("kept") is not None:
        return int(row["kept"] + row["moves"])
    return int(row["owned"])


def _load(held: Held, member: str) -> int:
    return sum(map(len, held.get(member, {}).values()))


def _loads_text(loads: list[int]) -> str:
    runs = [f"{load}×{len(list(same))}" for load, same in groupby(loads)]
    return ", ".join(runs[:4]) + (", …" if len(runs) > 4 else "")


def _loads_of(text: str) -> list[int]:
    pairs = (part.split("×") for part in text.split(", "))
    return [int(load) for load, count in pairs for _ in range(int(count))]


def _score(loads: list[int]) -> int:
    return sum(abs(a - b) for i, a in enumerate(loads) for b in loads[:i])


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("" if count == 1 else "s")
