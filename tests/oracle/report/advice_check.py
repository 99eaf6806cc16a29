"""Check the advice about each group against the rows of the tables, by loops."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oracle.names import visible
from oracle.report.harm import seconds_text
from tests.oracle.report.html_reading import Element
from tests.references.recount import Recount, Row, outcome

Key = tuple[str, str, str | None]
SHOWN = {"sticky": "(cooperative-)sticky"}
OLD = ("sticky", "range", "round-robin")
NEW = ("uniform", "server-range")
RATE = "partitions per rebalance"
FEW = "a comparison of assignors takes 5 judged rebalances"
NONE_BETTER = "none of Kafka's other assignors does better"
NOT_COMPARED = "cooperative groups are not compared with other assignors"
UNFINISHED = "its cooperative rebalances were unfinished as the source ended"
UNPROVED = "no optimum is proved"
FINDING = re.compile(
    r"(; )?(an invalid answer|the invalid answer of generation \d+) may be explained by"
    r" the finding ([a-z0-9-]+)[^;]*"
)
PAGES = Path(__file__).parents[3] / "docs/findings"


def check_advice(root: Element, tables: Recount) -> list[str]:
    """Return the advice in the data of the page, each line checked.

    Raises
    ------
    AssertionError
        If a line is not what follows from the tables.
    """
    found = root.all("script", id="group-data")
    if not found:
        return []
    data: dict[str, Any] = json.loads("".join(found[0].words))
    keys = {_shown(key): key for key in _keys(tables)}
    advice, lines = {}, []
    seen: set[int] = set()
    for cluster, group, assignor, *_, place, pattern in (r[:13] for r in data["rows"]):
        name = None if assignor < 0 else data["assignors"][assignor]
        line = data["advice"][place]
        advice[data["clusters"][cluster], group, name] = line
        if pattern not in seen:
            lines.append(line)
        if pattern >= 0:
            seen.add(pattern)
    for shown, line in advice.items():
        without = _without_findings(line)
        assert without == advice_of(tables, keys[shown], is_explained=without != line)
    in_table = [
        cell.text for cell in root.one("table", id="group-table").all(class_="advice")
    ]
    both = min(len(in_table), len(lines))  # the data can be cut
    assert in_table[:both] == lines[:both]
    assert all(advice.values())
    return lines


def _without_findings(line: str) -> str:
    """Return a line without findings, each of which has to have a page."""
    found = FINDING.search(line)
    if found is None:
        return line
    assert (PAGES / f"{found[3]}.md").is_file(), line
    return FINDING.sub("", line).removeprefix("; ")


def advice_of(tables: Recount, key: Key, *, is_explained: bool) -> str:
    """Derive the line for a group and one of its assignors, without findings.

    ``is_explained``: a finding may explain its newest invalid answer.
    """
    cluster, group, assignor = key
    of_group = [row for row in tables.units if _group(row) == (cluster, group)]
    mine = [row for row in of_group if _assignor(row) == assignor]
    judged = [row for row in mine if row["outcome"] != "open"]
    gain = sum(map(_gain, judged))
    cooperative = any(row["cooperative"] for row in mine)
    last = max(of_group, key=lambda row: _order(tables, row))
    if last not in mine:
        return "used before; the group's last assignor has a row of its own"
    parts = []
    if not judged:
        parts.append(f"not judged: {UNFINISHED if cooperative else UNPROVED}")
    if last["outcome"] == "invalid":
        parts.append(_reassign(tables, last))
    if not is_explained and (left_out := _left_out(tables, key)):
        parts.append(left_out)
    if gain:
        lacking = _gain(last) if last["outcome"] == "unbalanced" else 0
        parts.append(_setting(tables, key, (gain, mine, judged), lacking))
    if 0 < last["partitions"] < last["members"]:
        idle = last["members"] - last["partitions"]
        parts.append(
            f"{idle:,} of {last['members']:,} members cannot have a partition:"
            f" {_counted(last['partitions'], 'member')}"
            f" suffice{'s' if last['partitions'] == 1 else ''}"
        )
    return "; ".join(parts) or "nothing to gain"


def _reassign(tables: Recount, last: Row) -> str:
    """Name the rules that the last answer, or its first wrong round, violates."""
    ids = {last.get("rebalance_id")}
    if last.get("rebalance_id") is None:
        ids = {row["rebalance_id"] for row in tables.broken_rounds(last["episode_id"])}
    newest = max(
        (
            row
            for row in tables.tables["answers"]
            if row["assignor"] == "actual"
            and row["rebalance_id"] in ids
            and row["cluster"] == last["cluster"]
        ),
        key=lambda row: (row["generation"] or -1, row["rebalance_id"]),
    )
    rules = ", ".join(sorted({broken["rule"] for broken in newest["violations"]}))
    return (
        f"its last assignment is invalid ({rules}): restart a member, so that the group"
        " assigns anew"
    )


def _left_out(tables: Recount, key: Key) -> str | None:
    """State the topics that the newest invalid answer of a leader omits."""
    invalid = [
        row
        for row in tables.tables["answers"]
        if row["assignor"] == "actual"
        and (*_group(row), _assignor(row)) == key
        and row["applies"] is not False
        and row["verdict"] == "invalid"
    ]
    if not invalid or _is_new(tables, key[2]):
        return None
    answer = max(invalid, key=lambda row: _order(tables, row))
    (rebalance,) = (
        row
        for row in tables.tables["rebalances"]
        if (_group(row), row["rebalance_id"]) == (key[:2], answer["rebalance_id"])
    )
    omitted = _omitted(answer, json.loads(rebalance["instance"])["topics"])
    if not omitted:
        return None
    shown = [visible(name, limit=40) for name in omitted[:3]]
    if len(omitted) > 3:
        shown.append(_counted(len(omitted) - 3, "other topic"))
    names = " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
    of, lasted = answer["generation"], rebalance["lasted_ms"]
    named = (
        "an invalid answer" if of is None else f"the invalid answer of generation {of}"
    )
    span = "" if lasted is None else f" for {seconds_text(lasted)} s"
    may = "its leader may not have known all partition counts yet"
    return f"{named} left {names} without a reader{span}; {may}"


def _omitted(answer: Row, topics: Row) -> list[str]:
    """Return the topics without any member, if nothing else is wrong."""
    wrong = {(v["rule"], v["topic"], v["partition"]) for v in answer["violations"]}
    omitted = sorted({topic for _, topic, _ in wrong})
    whole = {
        ("unassigned", topic, number)
        for topic in omitted
        for number in range(topics[topic]["partitions"] if topic in topics else 0)
    }
    return omitted if wrong == whole else []


def _setting(
    tables: Recount, key: Key, mine: tuple[int, list[Row], list[Row]], lacking: int
) -> str:
    """Derive what the best of Kafka's assignors of the group's protocol saves."""
    gain, rows, judged = mine
    now = gain / len(judged)
    cooperative = any(row["cooperative"] for row in rows)
    others = [] if cooperative else list(_others(tables, key))
    settling = [
        name
        for _, place, name, of in others
        if len(of) == len(rows)
        and all(row["outcome"] in ("optimum", "needless") for row in of)
    ]
    lacks = f"at least {_counted(lacking, 'transfer')}"
    compared = [other[:3] for other in others if len(other[3]) >= 5]
    if len(judged) >= 5 and compared and now - min(compared)[0] >= 0.05:
        then, _, name = min(compared)
        line = f"use {SHOWN.get(name, name)}: {now:,.1f} → {then:,.1f} {RATE}"
        if lacking and name in settling:
            line += f"; it would have balanced the last assignment ({lacks})"
        return line
    last = f"its last assignment is {lacks} from balance"
    if lacking and settling:
        return f"{last}: {SHOWN.get(settling[0], settling[0])} would have balanced it"
    why = NONE_BETTER if len(judged) >= 5 else FEW
    rate = f"{now:,.1f}" if now >= 0.05 else "under 0.1"
    off = f"{rate} {RATE} off the optimum: {NOT_COMPARED if cooperative else why}"
    return f"{last}; {off}" if lacking else off


def _others(tables: Recount, key: Key) -> Iterator[tuple[float, int, str, list[Row]]]:
    """Yield gain per rebalance, place, and name of the others that always apply."""
    cluster, group, assignor = key
    for place, name in enumerate(NEW if _is_new(tables, assignor) else OLD):
        others = [
            row | {"outcome": outcome(row)}
            for row in tables.tables["answers"]
            if _group(row) == (cluster, group)
            and _assignor(row) == assignor
            and row["assignor"] == name
            and not row["cooperative"]
        ]
        judged = [row for row in others if row["outcome"] != "open"]
        if (
            judged
            and all(row["applies"] for row in others)
            and name.replace("-", "") != (assignor or "").replace("-", "")
        ):
            yield sum(map(_gain, judged)) / len(judged), place, name, judged


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _gain(row: Row) -> int:
    if row["outcome"] == "needless":
        return int(row["moves"] - row["moves_least"])
    if row["outcome"] == "unbalanced":
        gap = row["kip54_score"] - row["kip54_score_least"]
        per_transfer = max(2 * (row["members"] - 1), 2)
        return int(-(-gap // per_transfer))
    return int(row["outcome"] == "invalid")


def _order(tables: Recount, row: Row) -> tuple[str, int, int, str]:
    """Return the place of a unit in the history of its group."""
    number, name = row.get("generation"), row.get("rebalance_id")
    if "episode_id" in row and "rebalance_id" not in row:
        broken = tables.broken_rounds(row["episode_id"])
        number, name = row["last_generation"], row["episode_id"]
        if row["outcome"] == "invalid" and broken:
            number, name = broken[0]["generation"], broken[0]["rebalance_id"]
    return row["date"], -1 if number is None else number, len(name or ""), name or ""


def _is_new(tables: Recount, assignor: str | None) -> bool:
    return any(
        row["client_assignor"] == assignor and row["protocol"] == "consumer"
        for row in tables.tables["rebalances"]
    )


def _assignor(row: Row) -> str | None:
    return row["client_assignor"] or None


def _group(row: Row) -> tuple[str, str]:
    return row["cluster"], row["group_id"]


def _keys(tables: Recount) -> set[Key]:
    return {(*_group(row), row["client_assignor"] or None) for row in tables.units}


def _shown(key: Key) -> Key:
    cluster, group, assignor = key
    name = None if assignor is None else visible(assignor, limit=300)
    return visible(cluster, limit=300), visible(group, limit=300), name
