"""Diagnosis of a failing check: question, answer, optimum, and command.

Long documents are cut, so that a report of many findings can be read; the command
repeats the check, and the report that it writes has all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.checks.check import Check
from conformance.runs import DrivenRebalance, stated_optimum

Document = dict[str, Any]
CommandOf = Callable[[str, Check], str]
"""Returns the command that repeats one check of a subject."""

LONGEST: Final = 4_000
"""Characters of JSON from which a rebalance, an answer, or an optimum is cut."""
LOADS_SHOWN: Final = 100
CUT: Final = "the command shows the omitted part"


def diagnosis(check: Check, command: str, *, longest: int | None = LONGEST) -> Document:
    """Return the entries of a failing check, in the order of a report.

    Parameters
    ----------
    check : Check
    command : str
        Repeats the check.
    longest : int or None
        Characters of JSON from which a document is cut; None: never.

    Returns
    -------
    dict
        ``result``, ``reasons``, ``command``; ``rebalance``, the first that was sent;
        ``answer``, to the last that was sent; ``rounds``, if there were several;
        ``optimum``, of the first; ``notes`` and ``repeats``, if two answers differ; and
        ``cut``, if any of these is not complete.
    """
    rounds = check.outcome.rounds
    first = rounds[0].rebalance
    whole = {
        "rebalance": first,
        "answer": _answer(check.outcome),
        "optimum": stated_optimum(first),
    }
    shown = {key: _shortened(key, document, longest) for key, document in whole.items()}
    repeats = shown_repeats(check, longest=longest)
    is_cut = shown != whole or repeats != check.repeats
    entries: Document = {
        "result": check.result,
        "reasons": list(check.reasons),
        "command": command,
        "rounds": len(rounds) if len(rounds) > 1 else None,
        **shown,
        "notes": list(check.notes) or None,
        "repeats": repeats,
        "cut": CUT if is_cut else None,
    }
    return {key: entry for key, entry in entries.items() if entry is not None}


def shown_repeats(check: Check, *, longest: int | None) -> list[Document] | None:
    """Return the two answers that differ, without parts that are too long."""
    if check.repeats is None:
        return None
    return [_shorter(repeat, longest) for repeat in check.repeats]


def _shorter(repeat: Document, longest: int | None) -> Document:
    """Leave out the line and the answer, if they are too long."""
    length = len(json.dumps(repeat))
    if longest is None or length <= longest:
        return repeat
    short = {key: repeat[key] for key in repeat if key not in {"sent", "members"}}
    return short | {"omitted_characters": length}


def _answer(outcome: DrivenRebalance) -> Document:
    """Return the members with their figures, or the text in their place.

    Figures of a stable state count moves from the claims of the first round.
    """
    last = outcome.rounds[-1]
    if last.answer.assignment is None:
        line = {} if last.answer.line is None else {"line": last.answer.line}
        return {"error": last.answer.reason, **line}
    figures = last.figures if outcome.figures is None else outcome.figures
    return {"figures": figures, "members": last.answer.assignment.members}


def _shortened(key: str, whole: Document, longest: int | None) -> Document:
    """Return a document, or the beginning of one that is too long."""
    length = len(json.dumps(whole))
    if longest is None or length <= longest:
        return whole
    if key == "rebalance":
        counts = {name: len(whole[name]) for name in ("topics", "members")}
        return {"omitted": {**counts, "characters": length}}
    short = dict(whole)
    for name in ("error", "line"):
        if len(text := short.get(name) or "") > longest:
            short[name] = f"{text[:longest]} … ({len(text):,} characters)"
    if len(loads := (short.get("figures") or {}).get("loads", ())) > LOADS_SHOWN:
        short["figures"] = {**short["figures"], "loads": loads[:LOADS_SHOWN]}
        short["omitted_loads"] = len(loads) - LOADS_SHOWN
    if members := short.get("members"):
        short["members"] = _first_members(members, longest)
        if omitted := len(members) - len(short["members"]):
            short["omitted_members"] = omitted
    return short


def _first_members(members: Mapping[str, Any], longest: int) -> Document:
    """Keep the members that fit, in their order."""
    shown: Document = {}
    left = longest
    for member, topics in members.items():
        left -= len(json.dumps({member: topics}))
        if left < 0:
            break
        shown[member] = topics
    return shown
