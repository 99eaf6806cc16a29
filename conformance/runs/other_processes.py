"""The same assignor in other processes, with other hash seeds.

One of them, the twin, gets the questions that the subject itself got. It is started
anew after 1, 5, 21, 85, … answers, with the next hash seed: a start can cost as much as
a hundred answers, and after the first, its history is shorter than the subject's. The
other processes are for confirmation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from conformance.runs.difference import SentAnswer
from conformance.runs.subject import Subject, WrappedSubject
from conformance.runs.worker_processes import Startable

FIRST_SEED: Final = 1


class RepeatSource(Protocol):
    """A value from which a subject can also start in other processes."""

    def start(self) -> Subject:
        """Return a new subject."""
        ...

    def start_impatient(self, seconds: float) -> Subject:
        """Return a new subject with at most this limit per answer."""
        ...

    def start_other(self, hash_seed: int) -> Subject:
        """Return a new subject with a hash seed."""
        ...

    def leading(self) -> Startable:
        """Return the program with a leader that lives on between rebalances."""
        ...


@runtime_checkable
class Repeatable(Subject, Protocol):
    """A subject with other processes."""

    def ask_twin(self, line: bytes) -> SentAnswer:
        """Ask the twin the subject's questions."""
        ...

    def ask_new(self, line: bytes, hash_seed: int) -> SentAnswer:
        """Ask a new process."""
        ...

    def ask_kept(self, line: bytes, hash_seed: int, number: int = 0) -> SentAnswer:
        """Ask a process that is kept; those of other numbers are others."""
        ...

    def end_kept(self) -> None:
        """End the processes that are kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeating:
    """A program whose answers are repeated; each process of a run starts its own."""

    source: RepeatSource

    def start(self) -> Subject:
        """Return a `Repeatable` subject."""
        return _RepeatedSubject(
            subject=self.source.start(), start_other=self.source.start_other
        )

    def start_impatient(self, seconds: float) -> Subject:
        """Return the subject with a shorter limit, without other processes."""
        return self.source.start_impatient(seconds)

    def leading(self) -> Startable:
        """Return the program with a leader that lives on, without other processes.

        Its answers may depend on earlier rebalances.
        """
        return self.source.leading()


@dataclass(slots=True, kw_only=True, eq=False)
class _RepeatedSubject(WrappedSubject[Subject]):
    start_other: Callable[[int], Subject]
    _kept: dict[tuple[int, int], Subject] = field(default_factory=dict)
    _new: Subject | None = None
    _twin: Subject | None = None
    _seed: int = FIRST_SEED
    _answered: int = 0
    _until: int = 1

    def ask_twin(self, line: bytes) -> SentAnswer:
        if self._twin is not None and self._answered == self._until:
            self._twin.close()
            self._twin = None
            self._seed += 1
            self._answered, self._until = 0, 4 * self._until + 1
        if self._twin is None:
            self._twin = self.start_other(self._seed)
        self._answered += 1
        answer = self._twin.answer(line)
        is_new = self._answered == 1
        return SentAnswer(line=line, answer=answer, hash_seed=self._seed, is_new=is_new)

    def ask_new(self, line: bytes, hash_seed: int) -> SentAnswer:
        self._new = self.start_other(hash_seed)
        try:
            answer = self._new.answer(line)
        finally:
            self._new.close()
            self._new = None
        return SentAnswer(line=line, answer=answer, hash_seed=hash_seed, is_new=True)

    def ask_kept(self, line: bytes, hash_seed: int, number: int = 0) -> SentAnswer:
        key = hash_seed, number
        if key not in self._kept:
            self._kept[key] = self.start_other(hash_seed)
        answer = self._kept[key].answer(line)
        return SentAnswer(line=line, answer=answer, hash_seed=hash_seed)

    def end_kept(self) -> None:
        for subject in self._kept.values():
            subject.close()
        self._kept.clear()

    def cut(self) -> None:
        for subject in self._all():
            subject.cut()

    def close(self) -> None:
        for subject in self._all():
            subject.close()

    def _all(self) -> tuple[Subject, ...]:
        others = (self._twin, self._new, *tuple(self._kept.values()))
        return (self.subject, *(other for other in others if other is not None))
