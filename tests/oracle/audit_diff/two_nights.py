"""Two nights of a fictitious cluster, of which every number is known."""

from __future__ import annotations

from tests.oracle.audit_diff.drawn_tables import add_rebalance, moment
from tests.oracle.report.audits import Audit
from tests.support.shapes import Document

HOUR = 3_600_000
DAY = 24 * HOUR
HOSTILE = "\u202enight\u2066 <b>"
"""A name that would reverse the rest of a line."""


WRONG: Document = {"verdict": "invalid", "at_optimum": False}


def monday() -> Audit:
    """Return the first day: billing, feed, and orders have harm, and three are calm."""
    audit = _first_day({}, "open")
    audit.newest_record = moment(DAY - 1)
    return audit


def tuesday() -> Audit:
    """Return both days.

    Four partitions of orders have no reader for six hours from Monday evening on;
    billing is well; feed moves one partition needlessly, after eight; leaving leaves,
    and late comes with harm of unknown duration.
    """
    hour = dict.fromkeys(("billing", "feed", HOSTILE), DAY + HOUR)
    ends = {"orders": DAY + 5 * HOUR, "calm": 2 * DAY, "leaving": DAY + 2 * HOUR}
    audit = _first_day(ends | hour, "next")
    end = 2 * DAY
    add_rebalance(audit, "orders", 3, (DAY + 5 * HOUR, end), ended="open")
    add_rebalance(audit, "billing", 3, (DAY + HOUR, end), ended="open")
    feed: Document = {
        "ended": "open",
        "moves": 1,
        "at_optimum": False,
        "assignor": "sticky",
    }
    add_rebalance(audit, "feed", 3, (DAY + HOUR, end), **feed)
    add_rebalance(audit, "late", 1, (DAY + HOUR, None), ended="next", **WRONG)
    add_rebalance(
        audit,
        HOSTILE,
        2,
        (DAY + HOUR, end),
        partitions={"imbalance": 1},
        ended="open",
        dec_min_balanced=False,
        at_optimum=False,
        assignor="mine\u2067",
    )
    audit.newest_record = moment(end - 1)
    return audit


def _first_day(ends: dict[str, int], ended: str) -> Audit:
    """Return the first day; the last state of each group goes on until its end."""
    audit = Audit()
    wrong: Document = {"partitions": {"unread": 2, "shared": 1}, **WRONG}
    add_rebalance(audit, "orders", 1, (0, DAY - HOUR))
    add_rebalance(audit, "billing", 1, (HOUR, 7 * HOUR), **wrong)
    add_rebalance(audit, "feed", 1, (HOUR, 2 * HOUR), moves=8, at_optimum=False)
    unread: Document = {"partitions": {"unread": 4}, "assignor": "sticky", **WRONG}
    last: dict[str, tuple[int, int, Document]] = {
        "orders": (2, DAY - HOUR, unread),
        "billing": (2, 7 * HOUR, {}),
    }
    last |= {"feed": (2, 2 * HOUR, {}), "calm": (1, 2 * HOUR, {})}
    last |= {"leaving": (1, 2 * HOUR, {}), HOSTILE: (1, 2 * HOUR, {})}
    words = {"leaving": "empty", "calm": "open"}
    for group, (generation, at, more) in last.items():
        times = at, ends.get(group, DAY)
        how = words.get(group, ended) if ends else ended
        add_rebalance(audit, group, generation, times, ended=how, **more)
    return audit


def store_of(nights: list[Audit]) -> Document:
    """Return the history of a store with these nights, as in ``audit.json``."""
    return {
        "store": "store",
        "first_day": None,
        "audits": [
            {
                "night": number,
                "newest_record": night.newest_record
                and night.newest_record.isoformat(timespec="milliseconds"),
            }
            for number, night in enumerate(nights, start=1)
        ],
    }
