"""Check that an audit replaces none of the files that it reads."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.files import Location, shown, uri_of
from pipeline.writing import WHOLE
from rebalance import OutputError


def refuse_replaced(out: Location, read: Iterable[Location]) -> None:
    """Check that no file that is read has the place of a table, page, or manifest.

    Raises
    ------
    OutputError
        If one has.
    """
    places = [f"{uri_of(out)}/{name}" for name in WHOLE]
    for location in read:
        uri = uri_of(location)
        for place in places:
            if uri == place or uri.startswith(f"{place}/"):
                reason = f"{shown(uri)} is read by this audit, which would replace it"
                raise OutputError(f"{reason}: write to another folder", target=str(out))
