"""Rebalances that a reader can open on the page, as compact data (``rebalances.js``).

Scripts draw them when they are asked for: members as columns, before, after as it was,
and after as it could have been, with the moves between them. The worst rebalances are
drawn on the page itself and need no scripts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from oracle.member_transfers import MemberTransfer
from oracle.names import visible
from oracle.report.assignment_diff import FATES
from oracle.report.flows import Change
from oracle.report.group_index import Group, case_id, group_id, literal
from oracle.report.outliers import Outlier, Row
from oracle.report.page_templates import environment
from oracle.summary import INVALID, NEEDLESS, OPTIMUM, UNBALANCED, equals
from oracle.wording import counted, ranges

MOST: Final = 600
PARTITIONS: Final = 100_000
"""Most rebalances, and partitions of all together: each rebalance is judged again,
which takes 2 ms and up to 20 us per partition."""
DATA_BYTES: Final = 700_000
NAME_KEPT: Final = 300
TRANSFERS_LISTED: Final = 12
TOPICS_LISTED: Final = 4
OUTCOMES: Final = {
    OPTIMUM: "at the optimum",
    NEEDLESS: "needless moves",
    UNBALANCED: "unbalanced",
    INVALID: "invalid",
}


def rebalance_data(
    cases: Iterable[Outlier], groups_shown: int, *, many_clusters: bool
) -> Markup:
    """Return rebalances of the groups that the page shows, as JSON, if any.

    A group has the id of its row, its name, the names of its members, and its
    rebalances, newest first. A rebalance is id, title, outcome in words, the transfers
    that would balance it in words, columns (places of members; -1 no owner, -2 the
    others), the number of others, loads before, and recorded and optimum: each loads,
    then flows of giver, taker, partitions, and fate.
    """
    left: defaultdict[Group, int]
    left = defaultdict(lambda: DATA_BYTES // max(1, groups_shown))
    seen: Counter[str] = Counter()
    groups: dict[Group, dict[str, Any]] = {}
    for case in cases:
        id_ = case_id(case, many_clusters=many_clusters)
        seen[id_] += 1
        if seen[id_] > 1:  # a group that was deleted and created again counts from 1
            id_ = f"{id_}.{seen[id_]}"
        place = case.cluster, case.group
        group = groups.setdefault(place, _group(case, many_clusters))
        known = len(group["members"])
        one = _rebalance(case, id_, group["members"])
        left[place] -= len(literal(one)) + len(literal([*group["members"]][known:]))
        if left[place] >= 0:
            group["rebalances"].append(one)
    listed = [
        group | {"members": [*group["members"]]}
        for group in groups.values()
        if group["rebalances"]
    ]
    if not listed:
        return Markup()
    return Markup(literal({"fates": FATES, "groups": listed}))  # noqa: S704 - escaped


def newest_units(units: pa.Table, groups: Sequence[Group]) -> list[Row]:
    """Return the newest rebalances of each group; all groups have equal room."""
    known = pc.is_valid(units["partitions"])
    judged = pc.is_in(units["outcome"], pa.array(OUTCOMES))
    units = units.filter(pc.and_(known, judged))
    left = PARTITIONS // max(1, len(groups))
    each = [[*_within(_newest_first(units, group), left)] for group in groups]
    most = even_room([len(rows) for rows in each])
    return [row for rows, room in zip(each, most, strict=True) for row in rows[:room]]


def _newest_first(units: pa.Table, group: Group) -> list[Row]:
    cluster, name = group
    is_of = pc.and_(equals(units["cluster"], cluster), equals(units["group_id"], name))
    order = [(column, "descending") for column in ("date", "generation", "drawn_id")]
    rows: list[Row] = units.filter(is_of).sort_by(order).slice(0, MOST).to_pylist()
    return rows


def _within(rows: Sequence[Row], left: int) -> Iterator[Row]:
    """Yield rows until they have more partitions than are left."""
    for row in rows:
        left -= row["partitions"]
        if left < 0:
            return
        yield row


def even_room(wanted: Sequence[int], most: int = MOST) -> list[int]:
    """Share room evenly among groups; unused places go to the others."""
    room = [0] * len(wanted)
    fewest_first = sorted(range(len(wanted)), key=lambda at: (wanted[at], -at))
    for done, at in enumerate(fewest_first):
        room[at] = min(wanted[at], most // (len(wanted) - done))
        most -= room[at]
    return room


def _group(case: Outlier, many_clusters: bool) -> dict[str, Any]:
    names = (case.cluster, case.group) if many_clusters else (case.group,)
    return {
        "row": group_id(case.cluster, case.group, many_clusters=many_clusters),
        "name": " / ".join(visible(name, limit=NAME_KEPT) for name in names),
        "members": {},
        "rebalances": [],
    }


def _rebalance(case: Outlier, id_: str, members: dict[str, int]) -> list[Any]:
    flows = case.flows
    columns = [
        -1
        if name is None
        else members.setdefault(visible(name, limit=NAME_KEPT), len(members))
        for name in flows.names
    ]
    return [
        id_,
        f"{case.named or 'rebalance'} · {OUTCOMES[case.kind]}",
        _said(case),
        _balancing(case),
        columns + [-2] * bool(flows.folded),
        flows.folded,
        [*flows.before],
        *(part for change in (flows.recorded, flows.best) for part in _change(change)),
    ]


def _said(case: Outlier) -> str:
    """Return the outcome as one sentence, as the page states it of a worst one."""
    if case.kind == OPTIMUM:
        return "At the optimum: the best balance, with the fewest moves."
    said = environment().get_template("said.html").render(case=case, kind=case.kind)
    return " ".join(Markup(said).striptags().split())  # noqa: S704 - a template's


def _balancing(case: Outlier) -> list[str]:
    """Return the transfers that balance the recorded assignment, in words."""
    texts = [
        f"{_partitions(transfer)} from {_name(transfer.giver)}"
        f" to {_name(transfer.receiver)}"
        for transfer in case.balancing[:TRANSFERS_LISTED]
    ]
    more = sum(transfer.count for transfer in case.balancing[TRANSFERS_LISTED:])
    return texts + [f"and {counted(more, 'more partition')}"] * bool(more)


def _partitions(transfer: MemberTransfer) -> str:
    pieces = transfer.partitions.items()
    texts = [f"{visible(topic, limit=40)} {ranges(n)}" for topic, n in pieces]
    more = len(texts) - TOPICS_LISTED
    return ", ".join(texts[:TOPICS_LISTED]) + (
        f" and {counted(more, 'more topic')}" if more > 0 else ""
    )


def _name(member: str | None) -> str:
    return "nobody" if member is None else visible(member, limit=40)


def _change(change: Change) -> Iterator[list[Any]]:
    yield [*change.loads]
    yield [[f.giver, f.taker, f.count, FATES.index(f.fate)] for f in change.flows]
