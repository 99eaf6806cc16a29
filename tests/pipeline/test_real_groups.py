"""Reconstruction compared with the callbacks of real groups on the tests' broker.

`studies.recording` runs the groups: kafka-clients, librdkafka, kafka-python, and
aiokafka under churn, a rolling upgrade (KIP-726), and groups that move to the new
protocol and back (KIP-848). Each is compared for every generation or epoch and every
assignment.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline.cases import CLAIMS, OPEN, PREVIOUS, Case
from pipeline.rows import MISSING
from rebalance import OutsideError
from studies.recording.record import record
from studies.recording.scenarios import SCENARIOS
from tests.pipeline.callbacks import (
    KILLED,
    LEFT,
    SEEN,
    SUPERSEDED,
    Matched,
    follows,
    matches,
    reports_changes,
)
from tests.pipeline.recorded import Pairs, pairs
from tests.pipeline.recorded_groups import Called, Life, Recorded, read_recording

pytestmark = pytest.mark.nightly(minutes=2)

MIGRATIONS = ("java-migration", "librdkafka-migration")
SUBSCRIBED_MS = 10_000  # a change of a subscription is in the records this much later


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A group, and its callbacks matched with its records, by member id."""

    group: Recorded
    matches: dict[str, list[Matched]]

    def members(self) -> Iterator[tuple[Case, str, Pairs]]:
        """Yield each member of each case with its assignment."""
        for case in self.group.cases:
            for name, member in (case.members or {}).items():
                yield case, name, pairs(member.assigned)

    def had(self, name: str) -> list[Pairs]:
        """Return what a member had, from nothing to its last callback.

        A static member can reach its target in the process that follows it.
        """
        life = self.group.life(name)
        lives = [life]
        if (instance := life.start["instance"]) is not None:
            every = self.group.lives.values()
            lives = [live for live in every if live.start["instance"] == instance]
        return [frozenset(), *(called.held for live in lives for called in live.called)]

    def unseen(self, name: str) -> set[Pairs]:
        """Return what a member was never called back for, each with its reason."""
        found = self.matches.get(name, ())
        return {matched.given.held for matched in found if matched.status != SEEN}


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Compared]:
    """Record once, whatever the number of processes that run these tests."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, complete = shared / "recording", shared / "recording.complete"
    with (shared / "recording.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            assert recorded(folder) > 1000
            complete.touch()
    return compared(folder)


def recorded(folder: Path, *, again: bool = True) -> int:
    """Record, once more if a group does not settle; return the number of records.

    On a busy machine, a consumer of kafka-python whose group changes while it joins can
    stay outside of the group for ever (`studies.recording.scenarios.turn_over`).
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        return record(folder)
    except OutsideError as error:
        if not again or "does not settle" not in str(error):
            raise
    return recorded(folder, again=False)


def compared(folder: Path) -> dict[str, Compared]:
    return {
        name: Compared(
            group=group,
            matches={
                member: list(matches(group.life(member), given))
                for member, given in group.given.items()
            },
        )
        for name, group in read_recording(folder).items()
    }


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_callback_and_every_assignment(
    recording: dict[str, Compared], name: str
) -> None:
    """Callbacks without a record fail in ``compared``; here, the other direction."""
    found = recording[name]
    counts = Counter(
        matched.status for each in found.matches.values() for matched in each
    )
    assert counts.keys() <= {SEEN, KILLED, LEFT, SUPERSEDED}
    assert counts[SEEN] >= 8
    assert counts[SEEN] >= 2 * (counts.total() - counts[SEEN])
    called = {m for life in found.group.lives.values() for m in life.member_ids}
    assert {m for m in called if m in found.group.given} == called
    # A generation in which a member joins before the leader has answered is never
    # written; a callback in it would have failed in ``compared``.
    assert {(row["what"], row["record"]) for row in found.group.others} <= {
        (MISSING, "generation")
    }


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_generation_has_the_assignments_of_the_callbacks(
    recording: dict[str, Compared], name: str
) -> None:
    found, count = recording[name], 0
    for case, member, assigned in found.members():
        if case.protocol != "classic":
            continue
        number, mine = case.generation or 0, found.matches[member]
        if reports_changes(found.group.life(member)):
            last = [matched for matched in mine if matched.given.number <= number][-1:]
            assert assigned == (last[0].given.held if last else frozenset())
        else:
            last = [
                matched for matched in mine if matched.given[:2] == (number, assigned)
            ]
            assert len(last) == 1
        for matched in last:
            assert matched.called is None or matched.called.held == assigned
            count += matched.called is not None
    protocols = {case.protocol for case in found.group.cases}
    assert count >= 5 or protocols == {"consumer"}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_epoch_has_the_target_that_the_members_reached(
    recording: dict[str, Compared], name: str
) -> None:
    """Of a target that was reached, each member had its part, one after the other."""
    found = recording[name]
    epochs = [case for case in found.group.cases if case.protocol == "consumer"]
    members = {member for case in epochs for member in case.members or {}}
    for member in sorted(members):
        mine = [(case, case.members[member]) for case in epochs
                if case.members and member in case.members]  # fmt: skip
        targets = [
            pairs(participant.assigned)
            for case, participant in mine
            if case.behind == 0
        ]
        claims = [
            pairs(participant.claimed)
            for _, participant in mine
            if participant.claimed is not None
        ]
        unseen = found.unseen(member)
        for states in (targets, claims):
            expected = [held for held in states if held not in unseen]
            assert follows(expected, found.had(member)) is None, member
    reached = sum(case.behind == 0 for case in epochs)
    assert reached >= len(epochs) / 2
    assert not epochs or reached >= 3


@pytest.mark.parametrize("name", SCENARIOS)
def test_members_owned_what_they_were_called_back_for(
    recording: dict[str, Compared], name: str
) -> None:
    """Restricted to the subscription: a consumer drops topics that it leaves."""
    found = recording[name]
    for case in found.group.cases:
        for member, participant in (case.members or {}).items():
            if case.protocol != "classic":
                continue
            if case.owned_from == CLAIMS and participant.claimed is None:
                assert not participant.owned  # its client reports nothing
                continue
            owned = {
                tp
                for tp in pairs(participant.owned)
                if tp[0] in participant.subscription
            }
            before = _before(
                found, member, participant.instance_id, case.generation or 0
            )
            had = {tp for tp in before if tp[0] in participant.subscription}
            if owned != had:
                # Without claims, nobody knows that a member missed a generation.
                about = (case.generation, member, sorted(owned), sorted(had))
                assert case.owned_from != CLAIMS, about
                assert (case.generation or 0) - 1 in _missed(found, member), about


def _missed(found: Compared, member: str) -> set[int]:
    """Return the generations for which a member was not called back."""
    missed = set()
    for match in found.matches[member]:
        number = match.given.number
        if match.status == SUPERSEDED:
            missed.add(number)
        elif match.called is not None:
            missed |= {*range(number, match.called.number or number)}
    return missed


def _before(
    found: Compared, member: str, instance_id: str | None, generation: int
) -> Pairs:
    """Return what the member, or its predecessor, had before a generation."""
    life = found.group.life(member)
    # A callback names the last of several generations that give the same partitions.
    seen = [m.called for m in found.matches[member]
            if m.called is not None
            and (m.called.number or m.given.number) < generation]  # fmt: skip
    if seen or instance_id is None:
        return _until_lost(life, seen[-1]) if seen else frozenset()
    former = [
        live.assigned[-1]
        for live in found.group.lives.values()
        if live.start["instance"] == instance_id and live.start["ms"] < life.start["ms"]
    ]
    return former[-1].held if former else frozenset()


def _until_lost(life: Life, called: Called) -> Pairs:
    """Return what a member had after a callback, or nothing if it lost that.

    What a consumer loses because it closes it has until it has left the group.
    """
    rest = life.called[life.called.index(called) + 1 :]
    for later in rest[:1]:
        if later.event == "lost" and later.ms < life.ended_ms:
            return later.held
    return called.held


@pytest.mark.parametrize("name", SCENARIOS)
def test_subscriptions_are_those_of_the_driver(
    recording: dict[str, Compared], name: str
) -> None:
    found, changed = recording[name].group, 0
    for case in found.cases:
        assert case.at is not None
        for member, participant in (case.members or {}).items():
            subscriptions = found.life(member).subscriptions
            changed += participant.subscription != sorted(subscriptions[0][1])
            assert participant.subscription in [
                sorted(topics)
                for at, (ms, topics) in enumerate(subscriptions)
                if ms <= case.at
                and (
                    at + 1 == len(subscriptions)
                    or subscriptions[at + 1][0] > case.at - SUBSCRIBED_MS
                )
            ]
    resubscribed = any(len(life.subscriptions) > 1 for life in found.lives.values())
    assert bool(changed) == resubscribed


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_generation_is_one_rebalance(
    recording: dict[str, Compared], name: str
) -> None:
    """Generations of a group only grow, and episodes end unless the group ends."""
    cases = recording[name].group.cases
    numbers = [case.generation or 0 for case in cases]
    assert numbers == sorted(set(numbers))
    given = recording[name].group.given.values()
    classic = {case.generation for case in cases if case.protocol == "classic"}
    if all(case.protocol == "classic" for case in cases):
        assert classic == {state.number for each in given for state in each}
    ended = [case for case in cases if case.episode is not None]
    for case, after in pairwise(ended):
        # Only a migration can come before all have reached their target.
        assert case.episode is not None
        assert case.episode.ended != OPEN or after.protocol != case.protocol
    assert {case.owned_from for case in cases} <= {PREVIOUS, CLAIMS}


@pytest.mark.parametrize("name", MIGRATIONS)
def test_a_migration_is_one_history(recording: dict[str, Compared], name: str) -> None:
    cases = recording[name].group.cases
    protocols = [case.protocol for case in cases]
    first, last = protocols.index("consumer"), len(protocols) - 1
    back = last - protocols[::-1].index("consumer") + 1
    assert set(protocols[:first]) == {"classic"}
    assert set(protocols[first:back]) == {"consumer"}
    assert set(protocols[back:]) == {"classic"}
    assert min(first, back - first, last - back) >= 2
    for before, after in ((first - 1, first), (back - 1, back)):
        stayed = (cases[before].members or {}).keys() & (cases[after].members or {})
        assert stayed
        assert cases[after].owned_from == PREVIOUS
        for member in stayed:
            was = (cases[before].members or {})[member].assigned
            assert pairs((cases[after].members or {})[member].owned) == pairs(was)


def test_the_rolling_upgrade_becomes_cooperative(
    recording: dict[str, Compared],
) -> None:
    """KIP-726: ``range`` as long as one member lists only that; then it stays."""
    cases = recording["java-upgrade"].group.cases
    assignors = [case.client_assignor for case in cases]
    changed = assignors.index("cooperative-sticky")
    assert set(assignors[:changed]) == {"range"}
    assert set(assignors[changed:]) == {"cooperative-sticky"}
    assert min(changed, len(assignors) - changed) >= 3


def test_four_libraries_are_in_one_group(recording: dict[str, Compared]) -> None:
    group = recording["four-libraries"].group
    together = [
        {group.life(member).start["library"] for member in case.members or {}}
        for case in group.cases
    ]
    assert {"java", "librdkafka", "kafka-python", "aiokafka"} in together


@pytest.mark.parametrize("name", ["librdkafka-static", "librdkafka-next-static"])
def test_static_members_return(recording: dict[str, Compared], name: str) -> None:
    """Neither return of a classic member is a rebalance (KIP-345)."""
    group = recording[name].group
    static = [
        member for case in group.cases for member in (case.members or {}).values()
    ]
    assert {member.instance_id for member in static} == {"i0", "i1", "i2"}
    returned = [life for life in group.lives.values() if life.start["instance"]]
    assert len(returned) == 5
    if name == "librdkafka-static":
        assert [case.generation for case in group.cases] == [1, 2, 3]
