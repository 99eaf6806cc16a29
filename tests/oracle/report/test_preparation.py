"""What a page needs can be loaded before there is an audit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.oracle.report.scenes import small_audit

PREPARED = """
import sys
from pathlib import Path
from oracle.report import page_of, prepare_page
from oracle.report.page_templates import environment

prepare_page()
modules, templates = set(sys.modules), set(environment().cache.keys())
assert len(templates) > 10
page_of(Path(sys.argv[1]))
new = set(sys.modules) - modules
assert new <= {"pyarrow.acero"}, new
assert set(environment().cache.keys()) == templates
"""


def test_a_page_loads_nothing_that_was_not_prepared(tmp_path: Path) -> None:
    folder = small_audit().write(tmp_path / "audit")
    command = [sys.executable, "-c", PREPARED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout, done.returncode) == ("", "", 0)
