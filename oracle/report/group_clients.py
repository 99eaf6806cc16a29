"""Clients of groups, as far as the records tell: by client ids, or by the assignor.

A client that an application has not named has a name of its own (``rdkafka``). The
coordinator begins a member id with the client id, which counts where the source has no
client id. An assignor tells the client if no other has one of its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from oracle.report.client_settings import CLIENTS
from oracle.report.load import load_of_rebalances

Group = tuple[str, str]

CLIENT_ID, ASSIGNOR, NOTHING = "client-id", "assignor", ""
IDS_KEPT: Final = 3
_COLUMNS: Final = ("cluster", "group_id", "rebalance_id", "client_id", "member_id")
_GROUP: Final = "{group}"
_UUID: Final = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientEvidence:
    """The clients of the members of a group, and how they are known.

    Attributes
    ----------
    clients : names in `CLIENTS`, most members first; empty: unknown
    basis : `CLIENT_ID`, `ASSIGNOR`, or `NOTHING`
    alike : members with a client id of these clients
    members : members of the group's last rebalance
    ids : a few of the client ids
    """

    clients: tuple[str, ...] = ()
    basis: str = NOTHING
    alike: int = 0
    members: int = 0
    ids: tuple[str, ...] = ()

    def offers(self, target: str) -> bool:
        """Return whether all have an assignor, or one if they are unknown."""
        if self.clients:
            return all(CLIENTS[name].offers(target) for name in self.clients)
        return any(client.offers(target) for client in CLIENTS.values())


UNKNOWN: Final = ClientEvidence()


def evidence_of(
    folder: Path, last: Sequence[Mapping[str, Any]]
) -> dict[Group, ClientEvidence]:
    """Return the clients of each group.

    Parameters
    ----------
    folder
        Of the audit.
    last
        The last rebalance of each group, as of `oracle.summary.last_units`.
    """
    wanted = {(row["cluster"], row["drawn_id"]) for row in last}
    members = load_of_rebalances(
        folder,
        "members",
        {row["drawn_id"] for row in last},
        {row["group_id"] for row in last},
        _COLUMNS,
    )
    ids: dict[Group, list[str]] = {}
    columns = (members[name].to_pylist() for name in _COLUMNS)
    for cluster, group, rebalance, client_id, member_id in zip(*columns, strict=True):
        if (cluster, rebalance) in wanted:
            of_group = ids.setdefault((cluster, group), [])
            of_group.append(client_id or _UUID.sub("", member_id or ""))
    return {
        (row["cluster"], row["group_id"]): clients_of(
            row["group_id"],
            row["client_assignor"] or None,
            ids.get((row["cluster"], row["group_id"]), ()),
        )
        for row in last
    }


def clients_of(
    group: str, assignor: str | None, client_ids: Sequence[str]
) -> ClientEvidence:
    """Return the clients that the ids of a group's members look like."""
    found: Counter[str] = Counter()
    shown: set[str] = set()
    patterns = _patterns(group, client_ids)
    for client_id in client_ids:
        name = next((n for n, text in patterns if text.fullmatch(client_id)), None)
        if name is not None:
            found[name] += 1
            shown.add(client_id)
    if found:
        return ClientEvidence(
            clients=tuple(sorted(found, key=lambda name: (-found[name], name))),
            basis=CLIENT_ID,
            alike=found.total(),
            members=len(client_ids),
            ids=tuple(sorted(shown)[:IDS_KEPT]),
        )
    owners = [
        name for name, client in CLIENTS.items() if assignor in client.own_assignors
    ]
    if owners:
        return ClientEvidence(
            clients=tuple(owners), basis=ASSIGNOR, members=len(client_ids)
        )
    return ClientEvidence(members=len(client_ids))


def _patterns(
    group: str, client_ids: Sequence[str]
) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return the client ids of each client, as those of a group.

    Those with the group's name are left out if none of these ids has the name.
    """
    if not any(group in client_id for client_id in client_ids):
        return _same_for_all_groups()
    return [
        *_same_for_all_groups(),
        *(
            (name, re.compile(text.replace(_GROUP, re.escape(group))))
            for name, text in _texts()
            if _GROUP in text
        ),
    ]


@cache
def _same_for_all_groups() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (name, re.compile(text)) for name, text in _texts() if _GROUP not in text
    )


def _texts() -> Iterator[tuple[str, str]]:
    for name, client in CLIENTS.items():
        for text in client.client_ids:
            yield name, text
