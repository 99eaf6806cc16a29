"""Draw the pictures in ``docs/``: ``python -m tools.pictures [PNG FOLDER]``.

With a folder, they are also written as PNG, for viewing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.pictures import pictures
from tools.pictures.canvas import png_of

ROOT = Path(__file__).resolve().parents[2]

for path, svg in pictures(ROOT):
    target = ROOT / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(svg, encoding="utf-8")
    if len(sys.argv) > 1:
        Path(sys.argv[1], target.stem + ".png").write_bytes(png_of(svg))
