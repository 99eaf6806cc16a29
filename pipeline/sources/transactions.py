"""Records of transactions (KIP-98): held until a marker commits or aborts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.sources.rows import Row


class OpenTransactions:
    """Records of one segment whose transaction has not ended, by producer."""

    def __init__(self) -> None:
        self._held: dict[int, list[Row]] = {}

    def hold(self, producer: int, rows: Iterable[Row]) -> None:
        """Add records to the transaction of a producer."""
        self._held.setdefault(producer, []).extend(rows)

    def end(self, producer: int, *, is_commit: bool) -> list[Row]:
        """End a transaction; return its records if it is committed, otherwise none."""
        held = self._held.pop(producer, [])
        return held if is_commit else []

    def rest(self) -> Iterator[Row]:
        """Yield the records of what did not end: its marker can be in the next one."""
        while self._held:
            yield from self._held.pop(next(iter(self._held)))
