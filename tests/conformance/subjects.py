"""Subjects in this process, right ones and ones with a known fault."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import verify
from conformance.clients import Answer, Verdict
from heuristics import ASSIGNORS
from rebalance import (
    AssignmentDocument,
    Instance,
    document_of,
    instance_of,
    parse_rebalance,
)
from solver import solve
from tests.support.shapes import Document

Held = Mapping[str, Mapping[str, list[int]]]


@dataclass(slots=True)
class Scripted:
    """A subject that answers by a function; it counts what it was asked."""

    reply: Callable[[Document], Answer]
    name: str = "scripted"
    received: list[Document] = field(default_factory=list)

    def answer(self, rebalance: bytes) -> Answer:
        document = json.loads(rebalance)
        self.received.append(document)
        return self.reply(document)

    def cut(self) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass(slots=True)
class Stuck:
    """A subject that waits until it is cut where its function returns None.

    Asked before it is closed, it has crashed: its program was ended a moment ago.
    """

    reply: Callable[[Document], Answer | None]
    name: str = "stuck"
    is_cut: threading.Event = field(default_factory=threading.Event)
    closed: int = 0

    def answer(self, rebalance: bytes) -> Answer:
        given = None if self.is_cut.is_set() else self.reply(json.loads(rebalance))
        if given is not None:
            return given
        assert self.is_cut.wait(60)
        return failed(Verdict.CRASH, "SIGKILL")

    def cut(self) -> None:
        self.is_cut.set()

    def close(self) -> None:
        self.closed += 1
        self.is_cut.clear()


def answered(held: Held) -> Answer:
    members = {m: {t: list(ns) for t, ns in mine.items()} for m, mine in held.items()}
    document = AssignmentDocument(members=members)
    return Answer(verdict=Verdict.ANSWERED, assignment=document)


def failed(verdict: Verdict, reason: str) -> Answer:
    return Answer(verdict=verdict, reason=reason)


def _instance(document: Document) -> Instance:
    return instance_of(parse_rebalance(json.dumps(document)))


def optimal(document: Document) -> Answer:
    """The oracle itself, eager."""
    instance = _instance(document)
    return answered(solve(instance).to_document(instance).members)


def in_rounds(reply: Callable[[Document], Answer]) -> Callable[[Document], Answer]:
    """Withhold from an eager target what a newest claimant has yet to revoke."""

    def withheld(document: Document) -> Answer:
        target = reply(document).assignment
        assert target is not None
        claimants = verify.case_of(document).claimants

        def may_have(member: str, topic: str, number: int) -> bool:
            rivals = claimants.get(topic, {}).get(number, ())
            return all(rival == member for rival in rivals)

        return answered(
            {
                m: {t: [n for n in ns if may_have(m, t, n)] for t, ns in held.items()}
                for m, held in target.members.items()
            }
        )

    return withheld


def heuristic(name: str) -> Callable[[Document], Answer]:
    def reply(document: Document) -> Answer:
        instance = _instance(document)
        given = ASSIGNORS[name].assign(instance)
        return answered(document_of(instance, given, assignor=name).members)

    return reply
