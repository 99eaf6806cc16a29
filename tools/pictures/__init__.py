"""The pictures of the pages: ``python -m tools.pictures`` draws all of them anew.

What they show comes from runs of the assignors, the solver and the simulator, never
from here. A test draws them and compares the bytes.
"""

from tools.pictures.every import pictures

__all__ = ["pictures"]
