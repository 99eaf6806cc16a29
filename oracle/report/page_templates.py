"""Templates of the pages, with their filters."""

from __future__ import annotations

from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from oracle.names import abridged, visible
from oracle.report.finding import example_counts, summary_of
from oracle.report.harm import seconds_text
from oracle.wording import counted, loads_text, percent, share
from pipeline.evaluation import ACTUAL

NAME_SHOWN: Final = 36
TITLE_SHOWN: Final = 300

CLIENTS: Final = "as recorded"
"""Name of the assignor ``actual`` on the page."""


@cache
def environment() -> Environment:
    """Return the templates' environment, which keeps the compiled ones."""
    environment = Environment(
        loader=PackageLoader("oracle.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "name": _name,
        "n": lambda number: f"{number:,}",
        "when": lambda moment: f"{moment:%Y-%m-%d %H:%M:%S} UTC",
        "seconds": seconds_text,
        "loads": loads_text,
        "assignor": assignor_label,
        "plain": lambda text: visible(str(text), limit=TITLE_SHOWN),
    }
    environment.globals |= {
        "share": share,
        "percent": percent,
        "counted": counted,
        "example_counts": example_counts,
        "summary_of": summary_of,
    }
    return environment


def _name(text: str, limit: int = NAME_SHOWN) -> Markup:
    """Escape a name from the input for the page."""
    shown, whole = abridged(text, limit), visible(text, limit=TITLE_SHOWN)
    if shown == whole:
        return Markup("<bdi>{}</bdi>").format(shown)
    return Markup('<bdi title="{}">{}</bdi>').format(whole, shown)


def assignor_label(name: str) -> str:
    """Return the name of an assignor on the page."""
    return CLIENTS if name == ACTUAL else name
