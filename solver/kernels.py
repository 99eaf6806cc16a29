"""Load the compiled kernels before a clock starts, and report any compilation.

numba keeps compiled kernels next to their modules; ``make setup`` compiles them all
(`tools.kernel_compilation`). The first call in a process still has to load them, and
the first call in a checkout without them compiles them, which takes minutes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rebalance import InstanceError, instance_of, parse_rebalance
from solver.engines import solve
from solver.limits import Limits
from solver.policy import Policy

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

PACKAGES: Final = ("rebalance", "solver", "heuristics", "pipeline")

SAMPLES: Final = (
    """{"format": "rebalance/1", "group": "", "topics":
  {"t": {"partitions": 3, "lag": [3, 2, 1], "racks": [["r"], ["s"], ["r"]]}},
 "members": {"a": {"subscription": ["t"], "rack": "r", "owned": {"t": [0, 1, 2]}},
             "b": {"subscription": ["t"], "rack": "s"}}}""",
    """{"format": "rebalance/1", "group": "", "topics":
  {"t": {"partitions": 3, "lag": [3, 2, 1]}, "u": {"partitions": 2, "lag": [5, 0]}},
 "members": {"a": {"subscription": ["t"], "owned": {"t": [0]}, "generation": 1},
             "b": {"subscription": ["t", "u"], "owned": {"t": [1]}, "generation": 2},
             "c": {"subscription": ["u"]}}}""",
)
"""Two small groups, with homogeneous and with heterogeneous subscriptions."""


@cache
def load_kernels(policy: Policy) -> None:
    """Solve two small instances under a policy, once per process.

    A time limit that starts afterwards measures the solve alone.
    """
    for text in SAMPLES:
        with suppress(InstanceError):  # a policy that small groups cannot satisfy
            solve(instance_of(parse_rebalance(text)), policy, limits=Limits(effort=1.0))


def kernels_are_compiled() -> bool:
    """Return whether this checkout holds compiled kernels of the exact core."""
    return any(map(_has_index, _kernels("solver.exact")))


def compiled_kernels() -> list[str]:
    """Return the kernels that this process compiled instead of loading them."""
    return sorted(
        f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
        for package in PACKAGES
        for kernel in _kernels(package)
        if sum(_requests(kernel)[1].values())
    )


def requested_kernels() -> list[str]:
    """Return the kernels that this process loaded or compiled, with their signatures.

    A kernel that only compiled kernels call is part of them, and not listed unless
    one of them had to be compiled.
    """
    return sorted(
        f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__} {signature}"
        for package in PACKAGES
        for kernel in _kernels(package)
        for signature in _requests(kernel)[0] | _requests(kernel)[1]
    )


def _requests(kernel: Dispatcher) -> tuple[Counter[Any], Counter[Any]]:
    """Return the signatures that were loaded, and those that were compiled.

    Dispatchers have them as ``stats``, too, which ask for the folder of the kernel: it
    is made for one without compiled forms, which is part of all its callers.
    """
    of: Any = kernel
    return of._cache_hits, of._cache_misses


def _has_index(kernel: Dispatcher) -> bool:
    folder, name = kernel.stats.cache_path, kernel.py_func.__qualname__
    return folder is not None and any(Path(folder).glob(f"*.{name}-*.nbi"))


def _kernels(package: str) -> Iterator[Dispatcher]:
    """Yield the kernels of a package's loaded modules, each once."""
    numba = sys.modules.get("numba.core.dispatcher")
    if numba is None:  # all kernels are interpreted
        return
    seen = set()
    for name, module in sorted(sys.modules.items()):
        if name == package or name.startswith(f"{package}."):
            for kernel in vars(module).values():
                if isinstance(kernel, numba.Dispatcher) and id(kernel) not in seen:
                    seen.add(id(kernel))
                    yield kernel
