"""Settings of consumers that change their assignor, by client.

They are in ``client_settings.toml``. Tests compare them with the declarations in
`conformance.clients`, and ``docs/actions.md`` with them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

PRESENT: Final = "<the present assignor>"
"""Stands for an assignor whose setting is not known."""
REMOTE: Final = {"uniform": "uniform", "server-range": "range"}
"""Our names of the assignors of the new protocol (KIP-848), and the coordinator's."""
_TOGETHER: Final = "First, restart the members one by one with both assignors"
_ALONE: Final = "Then restart them one by one with the new one alone"
_STOPPED: Final = "Stop all members, and start them with"
_REMOTE: Final = "Restart the members one by one with"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """An instruction, and the setting to copy."""

    says: str
    setting: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChange:
    """How the members of a group with one client change to another assignor."""

    client: str
    title: str
    assignor: str
    steps: tuple[Step, ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings:
    """One table of ``client_settings.toml``, which states the meaning of its keys."""

    name: str
    title: str
    sources: tuple[str, ...]
    short: str = ""
    client_ids: tuple[str, ...] = ()
    own_assignors: tuple[str, ...] = ()
    setting: str = ""
    separator: str = ", "
    assignors: Mapping[str, str] = field(default_factory=dict, hash=False)
    targets: Mapping[str, str] = field(default_factory=dict, hash=False)
    stopped: tuple[str, ...] = ()
    remote: str = ""
    notes: Mapping[str, str] = field(default_factory=dict, hash=False)

    def offers(self, target: str) -> bool:
        """Return whether the client has an assignor, by our name of it."""
        return bool(self.remote) if target in REMOTE else target in self.targets

    def change(self, present: str | None, target: str) -> SettingChange:
        """Return the steps from the present assignor (its protocol name) to another.

        Raises
        ------
        KeyError
            If the client does not offer the target.
        """
        if target in REMOTE:
            name = REMOTE[target]
            steps: tuple[Step, ...] = (
                Step(says=_REMOTE, setting=self.remote.replace("{}", name)),
            )
        else:
            name = self.targets[target]
            steps = self._steps(present, name)
        return SettingChange(
            client=self.name,
            title=self.title,
            assignor=name,
            steps=steps,
            note="" if target in REMOTE else self._note(name),
        )

    def _steps(self, present: str | None, name: str) -> tuple[Step, ...]:
        alone = self._listed(self.assignors[name])
        if name in self.stopped:
            return (Step(says=_STOPPED, setting=alone),)
        before = self.assignors.get(present or "", PRESENT)
        both = self._listed(before, self.assignors[name])
        return Step(says=_TOGETHER, setting=both), Step(says=_ALONE, setting=alone)

    def _note(self, name: str) -> str:
        return self.notes.get(name, self.notes.get("*", ""))

    def _listed(self, *expressions: str) -> str:
        return self.setting.replace("{}", self.separator.join(expressions), 1)


def _settings(name: str, table: Mapping[str, object]) -> ConsumerSettings:
    values = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in table.items()
    }
    return ConsumerSettings(name=name, **values)  # type: ignore[arg-type]  # checked by a test


_TABLE: Final = tomllib.loads(
    Path(__file__).with_name("client_settings.toml").read_text(encoding="utf-8")
)
CLIENTS: Final[Mapping[str, ConsumerSettings]] = MappingProxyType(
    {name: _settings(name, table) for name, table in _TABLE.items()}
)
"""All clients, in the order of the page."""


@cache
def changes(
    clients: tuple[str, ...], present: str | None, target: str
) -> tuple[SettingChange, ...]:
    """Return the changes of the clients, or of all that can be the group's.

    Those have the present assignor, if one of them has it, and offer the target.
    """
    having = [name for name in CLIENTS if present in CLIENTS[name].assignors]
    named = clients or having or tuple(CLIENTS)
    return tuple(
        CLIENTS[name].change(present, target)
        for name in named
        if CLIENTS[name].offers(target)
    )
