"""Timelines on the page: drawings of the first groups, and the data of all as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from oracle.report.client_row import ClientRow
from oracle.report.facts import Facts
from oracle.report.group_index import Group, group_id, literal
from oracle.report.timeline_drawing import drawing, outcomes_of, words_of
from oracle.report.timelines import Timeline, Timelines, texts_within


def timeline_parts(
    facts: Facts, timelines: Timelines, first: Sequence[Group], many_clusters: bool
) -> dict[str, Any]:
    """Return the drawn timelines of the first groups, and the data of all."""
    lines = {
        group: timelines.of_group[group]
        for group in first
        if group in timelines.of_group
    }
    own = timelines.are_short([*lines.values()])
    rows = [
        {
            "row": {"cluster": group[0], "group": group[1]},
            "id": group_id(*group, many_clusters=many_clusters),
            "words": words_of(line, own=own),
            "outcomes": outcomes_of(line),
            "svg": drawing(line, *timelines.axis(line, own=own)),
        }
        for group, line in lines.items()
    ]
    return {
        "timelines": timelines,
        "timelines_own": own,
        "timeline_rows": rows,
        "timeline_lag": any(line.extremes.lag >= 0 for line in lines.values()),
        "timeline_data": timeline_data(timelines, facts.groups),
    }


def timeline_data(timelines: Timelines, rows: Sequence[ClientRow]) -> Markup:
    """Return the timelines as JSON, of groups in the order of their first rows.

    A timeline is its start after the first of all (ms), and the place of the rest: its
    text (`timelines.text_of`), length and duration of the last state (ms), 1 if the
    group is empty at its end, and the numbers of `Extremes`; 0 without times.
    """
    groups = dict.fromkeys((row.cluster, row.group) for row in rows)
    known = [
        timelines.of_group[group] for group in groups if group in timelines.of_group
    ]
    rests: dict[str, int] = {}
    lines: dict[Group, list[int]] = {}
    groups_known = (group for group in groups if group in timelines.of_group)
    for group, line, text in zip(groups_known, known, texts_within(known), strict=True):
        rest = literal([text, line.length, line.lasts, int(line.ended), *_told(line)])
        place = rests.setdefault(rest, len(rests))
        lines[group] = [line.start - timelines.start, place]
    head = literal({"start": timelines.start, "end": timelines.end})[:-1]
    drawn = literal([lines.get(group, 0) for group in groups])
    return Markup(f'{head},"rests":[{",".join(rests)}],"lines":{drawn}}}')  # noqa: S704


def _told(timeline: Timeline) -> tuple[Any, ...]:
    found = timeline.extremes
    members = (found.members_least, found.members_most)
    return (found.counts, *members, found.unread, found.lag)
