"""The check that one word has one meaning in the tree."""

from __future__ import annotations

import re
from pathlib import Path

from tools.unique_names import EXCEPTIONS, ROOT, repeated_names


def write(root: Path, **modules: str) -> Path:
    """Write modules; ``__`` in a name stands for a folder."""
    for name, text in modules.items():
        path = root / "package" / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def repeated(*packages: str, root: Path) -> list[str]:
    return list(repeated_names(packages, root, exceptions={}))


def test_a_repeated_class_is_found(tmp_path: Path) -> None:
    write(tmp_path, a="class Limits: ...", b__c="class Outer:\n    class Limits: ...")
    assert repeated("package", root=tmp_path) == [
        "class Limits: package/a.py, package/b/c.py"
    ]


def test_a_repeated_module_is_found(tmp_path: Path) -> None:
    write(tmp_path, levels="", a__levels="", b__a="")
    (tmp_path / "package" / "a" / "__init__.py").touch()
    assert repeated("package", root=tmp_path) == [
        "module a: package/a/__init__.py, package/b/a.py",
        "module levels: package/a/levels.py, package/levels.py",
    ]


def test_an_underscore_makes_no_other_name(tmp_path: Path) -> None:
    write(tmp_path, a="class _Part: ...", b="class Part: ...")
    assert repeated("package", root=tmp_path) == [
        "class Part: package/a.py, package/b.py"
    ]


def test_special_modules_do_not_count(tmp_path: Path) -> None:
    for folder in ("a", "c"):
        write(tmp_path, **{f"{folder}__one_{folder}": ""})
        (tmp_path / "package" / folder / "__init__.py").touch()
        (tmp_path / "package" / folder / "__main__.py").touch()
    assert repeated("package", root=tmp_path) == []


def test_a_name_of_two_packages_is_found(tmp_path: Path) -> None:
    for package in ("oracle", "solver", "verify"):
        (tmp_path / package).mkdir()
        (tmp_path / package / f"of_{package}.py").write_text("class Limits: ...")
    assert repeated("oracle", "solver", "verify", root=tmp_path) == [
        "class Limits: oracle/of_oracle.py, solver/of_solver.py"
    ]


def test_the_names_of_the_judge_are_compared_with_each_other(tmp_path: Path) -> None:
    (tmp_path / "verify").mkdir()
    for name in ("a", "b"):
        (tmp_path / "verify" / f"{name}.py").write_text("class Case: ...")
    assert repeated("verify", root=tmp_path) == ["class Case: verify/a.py, verify/b.py"]


def test_an_exception_is_not_reported(tmp_path: Path) -> None:
    write(tmp_path, a__levels="", b__levels="")
    assert not list(repeated_names(["package"], tmp_path, {"module levels": "reason"}))


def test_every_exception_is_needed() -> None:
    line = re.search(r"^UNIQUE := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert line is not None
    found = {text.split(":")[0] for text in repeated(*line[1].split(), root=ROOT)}
    assert found == set(EXCEPTIONS)


def test_modules_of_one_subcommand_have_its_name(tmp_path: Path) -> None:
    cli = tmp_path / "oracle" / "cli"
    for name in ("options/solve", "runs/solve", "runs/limits", "options/limits"):
        (cli / name).parent.mkdir(parents=True, exist_ok=True)
        (cli / f"{name}.py").touch()
    (cli / "app.py").write_text("def solve(): ...")
    assert repeated("oracle", root=tmp_path) == [
        "module limits: oracle/cli/options/limits.py, oracle/cli/runs/limits.py"
    ]
    (tmp_path / "oracle" / "solve.py").touch()
    assert any("oracle/solve.py" in line for line in repeated("oracle", root=tmp_path))
