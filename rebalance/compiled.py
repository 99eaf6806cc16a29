"""Kernels: functions that numba compiles, or that a process interprets as they are.

To import numba and load its stored code takes half a second. A process that computes
little asks for plain Python before it imports an engine (`interpret_kernels`). Kernels
are written such that both give the same integers: sorts are stable, and code that wraps
around, or draws random numbers, is compiled in any case (`solver.peak_lag`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


class _Process:
    """The decision of this process; a kernel cannot call one of the other sort."""

    is_interpreting = False
    has_compiled = False


def kernel(function: Function) -> Function:
    """Compile a function when it is first called, and store it (`kernel_cache`).

    The function itself is returned where `interpret_kernels` was called before.
    """
    return _kernel(function)


def borrowing_kernel(function: Function) -> Function:
    """Compile a kernel that makes no arrays and returns none, so that calls are fast.

    Its caller holds the arrays that it reads and writes, so it counts no references to
    them. numba counts them by atomic instructions, for each array in each argument: in
    a function of a few lines, that takes longer than all else. numba refuses the kernel
    if it makes an array.
    """
    return _kernel(function, _nrt=False)


def inlined_kernel(function: Function) -> Function:
    """Compile a kernel as a part of each of its callers.

    A call passes every array of every tuple, seven numbers each; where that takes
    longer than the function itself, it is to be a part of its callers.
    """
    return _kernel(function, inline="always")


def _kernel(function: Function, **options: Any) -> Function:
    if _Process.is_interpreting:
        return function
    _Process.has_compiled = True
    return always_compiled(function, **options)


def always_compiled(function: Function, **options: Any) -> Function:
    """Do so even where kernels are interpreted: its integers wrap around."""
    from numba import njit
    from numba.core.dispatcher import Dispatcher

    from rebalance.kernel_cache import enable_caching

    dispatcher = njit(function, **options)
    if isinstance(dispatcher, Dispatcher):  # with NUMBA_DISABLE_JIT, it is a function
        enable_caching(dispatcher)
    return cast("Function", dispatcher)


def argument(value: int) -> int:
    """Return a constant for kernels, which are compiled anew for each literal."""
    from numpy import int64

    return cast("int", int64(value))


def interpret_kernels() -> bool:
    """Interpret all kernels in this process, unless one is already compiled.

    Returns
    -------
    bool
        Whether kernels are interpreted.
    """
    _Process.is_interpreting = not _Process.has_compiled
    return _Process.is_interpreting


def kernels_are_interpreted() -> bool:
    """Return whether this process interprets kernels."""
    return _Process.is_interpreting
