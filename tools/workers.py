"""Pack the imports of Spark's workers for ``spark-submit --archives``.

The archive (docs/clusters.md) is a virtual environment with the packages of
``requirements/workers.lock``, the wheel of this checkout, and the kernels that set-up
has compiled. It has no Python of its own: every worker needs the same one at the same
path. Packages are kept in ``build/`` and installed again only if the lock or Python
changes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tools.installer import SetUpError
from tools.kernel_compilation import PACKAGES
from tools.side_environment import MARK, ROOT, side_environment

LOCK = ROOT / "requirements" / "workers.lock"
PLACE = ROOT / "build" / "workers"
ARCHIVE = PLACE / "workers.tar.gz"
LEFT_OUT = {MARK, "uv", "cache", "pip.log", "include"}
"""Names at the top of the environment that workers do not need."""

LIGHT = 1
"""Level of gzip: a higher one takes several times longer and saves a tenth."""


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout; return its file."""
    shutil.rmtree(folder, ignore_errors=True)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*build, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (file,) = folder.glob("*.whl")
    return file


def copy_kernels(packages: Path) -> int:
    """Copy compiled kernels next to the same sources; return how many files.

    numba uses a compiled kernel if the digest of its source is the same, and if the
    processor is one of those that it was compiled for; otherwise workers compile.
    """
    copied = 0
    for package in PACKAGES:
        for compiled in sorted((ROOT / package).rglob("__pycache__/*.nb[ci]")):
            source = _source_of(compiled)
            target = packages / source.relative_to(ROOT)
            if not target.exists() or target.read_bytes() != source.read_bytes():
                continue
            cache = target.parent / compiled.parent.name
            cache.mkdir(exist_ok=True)
            shutil.copy2(compiled, cache)
            copied += 1
    return copied


def _source_of(compiled: Path) -> Path:
    """Return the module of a cached kernel, ``MODULE.FUNCTION-LINE.py311.nbi``."""
    return compiled.parents[1] / f"{compiled.name.partition('.')[0]}.py"


def pack(venv: Path, archive: Path) -> None:
    """Write the environment as an archive with ``bin`` and ``lib`` at its top."""

    def needed(item: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if item.name.endswith("/site-packages/pip") else item

    temporary = archive.with_suffix(".new")
    with tarfile.open(temporary, "w:gz", compresslevel=LIGHT) as file:
        for path in sorted(venv.iterdir()):
            if path.name in LEFT_OUT:
                continue
            file.add(path, path.name, filter=needed)
    temporary.replace(archive)


def make_workers() -> Path:
    """Make the archive for this checkout; return its file."""
    PLACE.mkdir(parents=True, exist_ok=True)
    venv = PLACE / "env"
    print(f"workers: installing packages (requirements/{LOCK.name})", flush=True)
    installer = side_environment(venv, LOCK)
    wheel = build_wheel(PLACE / "dist")
    installer.install("--no-deps", "--force-reinstall", str(wheel))
    (packages,) = venv.glob("lib/python*/site-packages")
    print(f"workers: copying compiled kernels ({copy_kernels(packages)} files)")
    print(f"workers: packing {ARCHIVE.relative_to(ROOT)}", flush=True)
    pack(venv, ARCHIVE)
    return ARCHIVE


def main() -> int:
    """Make ``build/workers/workers.tar.gz`` and the wheel next to it."""
    try:
        archive = make_workers()
    except (SetUpError, OSError, subprocess.CalledProcessError) as error:
        print(f"workers: failed: {error}", file=sys.stderr)
        return 1
    print(f"workers: done ({archive.stat().st_size >> 20} MiB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
