"""Partition counts over time: never more than a topic had, however records are read."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.known_counts import METADATA_MAX_AGE, Known, KnownCounts, known_counts
from pipeline.sightings import MOST_PARTITIONS, GroupSightings, Sighting
from pipeline.topic_ids import text_of_id

TOPIC = "t"
OLD, NEW = (text_of_id(bytes(15) + letter) for letter in (b"o", b"n"))
NAMES = {OLD: TOPIC, NEW: TOPIC}
GROUPS = 4
LATE = 3
"""Milliseconds by which tombstones of a deleted topic can be apart."""


class Cluster:
    """A topic over time, and the records of several groups that read it.

    ``truth`` are the times of all changes of its size.
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.now = 0
        self.size = rng.randint(1, 5)
        self.truth = [(0, self.size)]
        self.unclear: list[range] = []
        self.groups = [GroupSightings() for _ in range(GROUPS)]
        self.committed: list[set[int]] = [set() for _ in range(GROUPS)]

    def step(self) -> None:
        self.now += self.rng.choice([1, 10, 1000, METADATA_MAX_AGE])
        self.rng.choice(
            [
                self.commit,
                self.commit,
                self.assign,
                self.grow,
                self.expire,
                self.replace,
            ]
        )()

    def commit(self) -> None:
        group, number = self.rng.randrange(GROUPS), self.rng.randrange(self.size)
        self.groups[group].commit(TOPIC, number, self.now)
        self.committed[group].add(number)

    def assign(self) -> None:
        held = {TOPIC: list(range(self.rng.randint(1, self.size)))}
        self.rng.choice(self.groups).assigned([held], self.now)

    def grow(self) -> None:
        self._resize(self.size + self.rng.randint(1, 3))

    def expire(self) -> None:
        group = self.rng.randrange(GROUPS)
        for _ in self.committed[group]:
            self.groups[group].forget(TOPIC, self.now)
        self.committed[group].clear()

    def replace(self) -> None:
        """Delete the topic, to which a group has committed, and create it again."""
        if not any(self.committed):
            return
        began = self.now
        self._resize(self.rng.randint(1, 5))
        for group, numbers in enumerate(self.committed):
            self.now += self.rng.randint(0, 1) if numbers else 0
            for _ in numbers:
                self.groups[group].forget(TOPIC, self.now)
            numbers.clear()
        self.unclear.append(range(began, self.now + 1))
        self.now += 1

    def _resize(self, size: int) -> None:
        self.size = size
        self.truth.append((self.now, size))

    def known(self) -> KnownCounts:
        return known_counts((sighting for g in self.groups for sighting in g.all()), {})

    def size_at(self, at: int) -> int:
        return [size for since, size in self.truth if since <= at][-1]


@given(st.randoms(use_true_random=False))
def test_never_more_is_known_than_there_is(rng: Random) -> None:
    cluster = Cluster(rng)
    for _ in range(30):
        cluster.step()
    known = cluster.known()
    times = {at + more for at, _ in cluster.truth for more in (0, 1, METADATA_MAX_AGE)}
    for at in sorted(times | set(range(0, cluster.now, cluster.now // 20 + 1))):
        found = known.at(TOPIC, at)
        if found is not None and not any(at in span for span in cluster.unclear):
            assert 0 < found.settled <= found.most <= cluster.size_at(at)


@given(
    st.lists(
        st.tuples(
            st.integers(0, GROUPS - 1),
            st.sampled_from([1, 1000, METADATA_MAX_AGE]),
            st.integers(0, 20),
            st.booleans(),
        ),
        min_size=1,
    )
)
def test_all_that_was_shown_is_known(
    events: list[tuple[int, int, int, bool]],
) -> None:
    """Without deletions: the largest number until then, in any group."""
    groups = [GroupSightings() for _ in range(GROUPS)]
    now, shown = 0, []
    for group, later, number, is_commit in events:
        now += later
        if is_commit:
            groups[group].commit(TOPIC, number, now)
        else:
            groups[group].assigned([{TOPIC: [number]}], now)
        shown.append((now, number + 1))
    known = known_counts((sighting for g in groups for sighting in g.all()), {})
    for at, _ in shown:
        most = max(count for since, count in shown if since <= at)
        first = max(count for since, count in shown if since == shown[0][0])
        settled = [n for since, n in shown if since <= at - METADATA_MAX_AGE]
        assert known.at(TOPIC, at) == Known(most=most, settled=max([first, *settled]))
    assert known.at(TOPIC, shown[0][0] - 1) is None
    assert known.at("u", now) is None
    assert known.at(TOPIC, None) is None


def test_an_id_of_the_same_name_begins_a_new_topic() -> None:
    old, new = GroupSightings(), GroupSightings()
    old.assigned([{OLD: [0, 6]}], 10)
    old.assigned([{OLD: [9]}], 60)
    new.assigned([{NEW: [1]}], 50)
    known = known_counts([*old.all(), *new.all()], NAMES)
    assert known.at(TOPIC, 49) == Known(most=7, settled=7)
    assert known.at(TOPIC, 50) == known.at(TOPIC, 99) == Known(most=2, settled=2)
    assert known_counts(old.all(), {}) == KnownCounts({})


def test_recorded_topics_that_shrink_or_change_their_id() -> None:
    group = GroupSightings()
    group.commit(TOPIC, 4, 5)
    group.recorded([(TOPIC, b"1", 5)], 10)
    group.recorded([(TOPIC, b"1", 3)], 20)
    group.recorded([(TOPIC, b"2", 4)], 30)
    known = known_counts(group.all(), {})
    assert [known.at(TOPIC, at) for at in (5, 10, 20, 30)] == [
        Known(most=n, settled=n) for n in (5, 5, 3, 4)
    ]


def test_a_count_that_is_damaged_is_not_used() -> None:
    group = GroupSightings()
    group.commit(TOPIC, 1, 5)
    group.commit(TOPIC, MOST_PARTITIONS, 5)
    assert list(group.all()) == [(TOPIC, Sighting(5, 2, is_commit=True))]


@pytest.mark.parametrize(
    ("at", "expected"), [(None, {TOPIC: 3}), (9, {TOPIC: 3}), (10, {})]
)
def test_what_was_shown_at_another_time(
    at: int | None, expected: dict[str, int]
) -> None:
    group = GroupSightings()
    group.commit(TOPIC, 2, 10)
    group.commit("u", 2, None)
    assert group.undated([TOPIC], at) == expected
    assert group.undated(["u"], 99) == {"u": 3}
