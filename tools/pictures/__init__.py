"""The pictures in ``docs/``: ``python -m tools.pictures`` draws all of them again.

Their contents are computed by the assignors, the solver, and the simulator. A test
draws them and compares the bytes.
"""

from tools.pictures.every import pictures

__all__ = ["pictures"]
