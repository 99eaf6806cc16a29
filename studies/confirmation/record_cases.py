"""Cases for all stored hangs and crashes: with a history of their own, or replayed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

import orjson

from conformance.clients import ClientAssignor, client_assignor
from conformance.corpus import corpus
from conformance.findings import definitions_of, stored_records
from conformance.runs import Finding
from rebalance import Rebalance, rebalance_of
from studies.confirmation.confirmed import (
    ALL_REAL,
    CRAFTED,
    HANDED_OUT,
    Members,
    RecordReference,
)
from studies.confirmation.fault_cases import CASES, FaultCase
from studies.confirmation.replay import replay_of
from studies.confirmation.replay_plan import Way, plan_of

DIGEST_DIGITS: Final = 16
UNDEFINED: Final = "undefined"
"""The finding of a record that no definition selects; the pages need one."""
_MEMBERS: Final[dict[Way, Members]] = {
    Way.OWNER: ALL_REAL,
    Way.HANDED_OUT: HANDED_OUT,
    Way.CRAFTED: CRAFTED,
    Way.NO_TOPIC: ALL_REAL,
}


def fatal_records() -> tuple[Finding, ...]:
    """Return the stored findings whose category is hang or crash.

    Raises
    ------
    OutsideError
        If a record cannot be read.
    """
    return tuple(
        finding
        for finding in stored_records().findings
        if finding.category in {"hang", "crash"}
    )


def reference_of(finding: Finding) -> RecordReference:
    """Return the sentence of a confirmation about its record."""
    return RecordReference(
        family=finding.family,
        seed=finding.seed,
        index=finding.index,
        step=finding.step,
        digest=digest_of(finding.instance),
    )


def digest_of(instance: Rebalance) -> str:
    """Return the digest of an instance; the order of names does not change it."""
    plain = instance.model_dump(mode="json", exclude_none=True)
    data = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(data).hexdigest()[:DIGEST_DIGITS]


def all_cases() -> tuple[FaultCase, ...]:
    """Return the cases with a history of their own, then those of the other records.

    Raises
    ------
    OutsideError
        If a record cannot be read.
    """
    records = {
        (record.subject.name, digest_of(record.instance)): record
        for record in fatal_records()
    }
    own = [_with_record(case, records) for case in CASES]
    played = {(case.client.spec, case.record.digest) for case in own if case.record}
    others = [record for key, record in records.items() if key not in played]
    return (*own, *(case for other in others for case in _replays(other)))


def _with_record(case: FaultCase, records: dict[tuple[str, str], Finding]) -> FaultCase:
    """Return the case with the record of its scenario, if there is one."""
    for digest in _digests(case.history.scenario):
        found = records.get((case.client.spec, digest))
        if found is not None:
            return replace(case, record=reference_of(found))
    return case


@cache
def _digests(scenario: str) -> tuple[str, ...]:
    return tuple(
        digest_of(rebalance_of(step.rebalance))
        for candidate in corpus()
        if candidate.name == scenario
        for step in candidate.steps
        if step.unreadable is None
    )


def _replays(finding: Finding) -> Iterator[FaultCase]:
    client = _client(finding)
    plan = plan_of(finding.instance, client.client)
    if plan is None:
        return
    reference = reference_of(finding)
    yield FaultCase(
        finding=_mechanism(finding),
        client=client,
        history=replay_of(finding.instance, plan, reference.digest),
        expected=finding.category,
        members=_MEMBERS[plan.way],
        record=reference,
        way=plan.way.value,
    )


def _mechanism(finding: Finding) -> str:
    """Return the definition that selects the rebalance as drawn, which is played.

    Its shrunk form can belong to another one.
    """
    drawn = finding.model_copy(update={"shrunk": None})
    definitions = definitions_of(drawn) or definitions_of(finding)
    return definitions[0].id if definitions else UNDEFINED


def _client(finding: Finding) -> ClientAssignor:
    return client_assignor(finding.subject.name)
