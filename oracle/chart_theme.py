"""Chart theme of stand-alone pictures: colors, font, title, axes."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import altair as alt

INK: Final = "#1f2933"
SOFT: Final = "#7b8794"
PAPER: Final = "#ffffff"
GRID: Final = "#e4e7eb"
FONT: Final = "Helvetica, Arial, sans-serif"
AXES: Final = MappingProxyType(
    {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titlePadding": 10,
        "gridColor": GRID,
        "domainColor": SOFT,
        "tickColor": SOFT,
    }
)


def titled(text: str, subtitle: str) -> alt.TitleParams:
    """Add a title and a subtitle above a picture."""
    return alt.TitleParams(
        text,
        subtitle=subtitle,
        anchor="start",
        color=INK,
        fontSize=16,
        subtitleColor=SOFT,
        subtitleFontSize=12,
        offset=14,
    )
