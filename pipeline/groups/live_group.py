"""Groups of a running cluster, through the Admin API (`pipeline.live`)."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.causes import Cause, Silence
from pipeline.groups.moments import GroupRebalance, Moment
from pipeline.live import (
    NO_SUCH_GROUP,
    ClientSettings,
    GroupSnapshot,
    read_cluster,
    snapshots_of,
)
from rebalance import OffsetReset, SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveGroups:
    """The present state of a cluster's groups; ``name`` is ``HOST:PORT``."""

    name: str
    settings: ClientSettings

    def groups(self) -> list[str]:
        """Return the groups of the cluster that have members."""
        state = read_cluster(self.name, self.settings)
        return [group.group_id for group in state.groups]

    def moments(self, group: str) -> list[Moment]:
        """Return the present state of a group, if the cluster has such a group.

        Raises
        ------
        SourceError
            If the group is there, but cannot be read.
        """
        state = read_cluster(self.name, self.settings, groups=[group])
        for found in snapshots_of(state, OffsetReset.EARLIEST):
            if isinstance(found, GroupSnapshot):
                read = GroupRebalance(
                    rebalance=found.rebalance,
                    assignment=found.assignment,
                    notes=tuple(f"no lag without {note}" for note in state.notes),
                )
                return [Moment(group=group, key=read, is_snapshot=True)]
            if found.reason != NO_SUCH_GROUP:
                reason = f"group {group!r}: {found.reason}"
                raise SourceError(reason, source=self.name)
        return []

    def read(self, moment: Moment) -> GroupRebalance:
        """Return the moment and the facts that were read with it."""
        read: GroupRebalance = moment.key
        return read

    def causes(self, _moment: Moment) -> tuple[Cause, ...]:
        """Return that a state has no causes."""
        return ()

    def silences(self, _moment: Moment) -> tuple[Silence, ...]:
        """Return that nobody is known to be gone."""
        return ()

    def quarantined(self, group: str | None = None) -> str:  # noqa: ARG002
        """Return nothing: a group that cannot be read is an error of `moments`."""
        return ""
