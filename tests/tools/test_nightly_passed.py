"""Which commit passed the nightly run last, and what differs from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.repositories import commit, git, repository, write
from tools.nightly_passed import (
    PASSED,
    NotComparableError,
    files_changed_since,
    passed_commit,
    write_passed,
)

UNKNOWN = "0123456789abcdef" * 2 + "01234567"


@pytest.fixture(autouse=True)
def no_git_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a hook of git: the folder alone says which repository is meant."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of four files, and what is ignored."""
    files = {"a.py": "1\n", "b.py": "2\n", "c/d.py": "3\n", ".gitignore": "build/\n"}
    return repository(tmp_path / "checkout", files)


def head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD")


def why(root: Path) -> str:
    """Return why no commit can be compared with."""
    with pytest.raises(NotComparableError) as error:
        passed_commit(root)
    return str(error.value)


def test_what_is_written_is_read(root: Path) -> None:
    passed = head(root)
    write_passed(passed, "2026-11-25,\n75 min", root)
    lines = (root / PASSED).read_text().splitlines()
    assert lines[-1] == f"{passed} 2026-11-25, 75 min"
    assert all(line.startswith("#") for line in lines[:-1])
    assert passed_commit(root) == passed
    commit(root)  # the file itself is in a later commit
    assert passed_commit(root) == passed


def test_a_later_run_replaces_the_commit(root: Path) -> None:
    write_passed(head(root), "", root)
    later = commit(root)
    write_passed(later, "", root)
    assert passed_commit(root) == later


@pytest.mark.parametrize("word", ["", "HEAD", "main", "1a2b3c4", UNKNOWN + "\n"])
def test_no_other_name_of_a_commit_is_written(root: Path, word: str) -> None:
    with pytest.raises(ValueError, match="not a full hash"):
        write_passed(word, "today", root)
    assert not (root / PASSED).exists()


def test_the_first_line_that_is_no_comment_counts(root: Path) -> None:
    text = f"# {UNKNOWN}\n\n  #more\n{head(root)}\ttoday\n{UNKNOWN} yesterday\n"
    write(root, {str(PASSED): text})
    assert passed_commit(root) == head(root)


def test_without_the_file_there_is_no_commit(root: Path) -> None:
    assert why(root) == "there is no .ci/nightly-passed"


@pytest.mark.parametrize(
    "text", ["", "# none\n", "HEAD today\n", "--help\n", "1a2b\n", f"{UNKNOWN}f\n"]
)
def test_a_file_without_a_full_hash_names_no_commit(root: Path, text: str) -> None:
    write(root, {str(PASSED): text})
    assert why(root) == ".ci/nightly-passed names no commit by its full hash"


def test_a_commit_of_another_clone_is_not_known(root: Path) -> None:
    write_passed(UNKNOWN, "", root)
    words = "this clone does not have 0123456, which .ci/nightly-passed names"
    assert why(root) == words


def test_a_shallow_clone_does_not_have_an_earlier_commit(
    root: Path, tmp_path: Path
) -> None:
    write_passed(head(root), "", root)
    commit(root)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", root.as_uri(), str(clone))
    assert why(clone).startswith("this clone does not have ")
    git(clone, "fetch", "--quiet", "--unshallow")
    assert passed_commit(clone) == git(root, "rev-parse", "HEAD~1")


def test_a_hash_of_a_file_is_no_commit(root: Path) -> None:
    write_passed(git(root, "rev-parse", "HEAD:a.py"), "", root)
    assert why(root).startswith("this clone does not have ")


def test_a_commit_of_another_branch_is_no_ancestor(root: Path) -> None:
    git(root, "checkout", "--quiet", "-b", "other")
    passed = commit(root)
    git(root, "checkout", "--quiet", "main")
    write_passed(passed, "", root)
    words = "which .ci/nightly-passed names, is not an ancestor of HEAD"
    assert why(root) == f"{passed[:7]}, {words}"


def test_outside_of_a_repository_git_says_why(tmp_path: Path) -> None:
    write_passed(UNKNOWN, "", tmp_path)
    assert why(tmp_path).startswith("git rev-parse fails: ")


def test_without_git_there_is_no_commit(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_passed(head(root), "", root)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert why(root) == "git is not installed"


def test_nothing_has_changed_in_a_clean_checkout(root: Path) -> None:
    assert files_changed_since(head(root), root) == frozenset()


def test_every_sort_of_change_counts(root: Path) -> None:
    passed = head(root)
    write(root, {"a.py": "committed\n"})
    commit(root)
    write(root, {"b.py": "staged\n"})
    git(root, "add", "b.py")
    (root / "c" / "d.py").unlink()
    write(root, {"c/naïve file.py": "untracked\n", "build/f.py": "ignored\n"})
    changed = {"a.py", "b.py", "c/d.py", "c/naïve file.py"}
    assert files_changed_since(passed, root) == {Path(name) for name in changed}


def test_what_was_changed_back_has_not_changed(root: Path) -> None:
    passed = head(root)
    write(root, {"a.py": "other\n"})
    commit(root)
    write(root, {"a.py": "1\n"})
    assert files_changed_since(passed, root) == frozenset()


def test_both_names_of_a_renamed_file_have_changed(root: Path) -> None:
    passed = head(root)
    git(root, "mv", "a.py", "e.py")
    assert files_changed_since(passed, root) == {Path("a.py"), Path("e.py")}
    commit(root)
    assert files_changed_since(passed, root) == {Path("a.py"), Path("e.py")}


def test_a_file_taken_out_of_the_index_counts(root: Path) -> None:
    passed = head(root)
    git(root, "rm", "--quiet", "--cached", "a.py")
    assert files_changed_since(passed, root) == {Path("a.py")}


def test_git_that_fails_says_why(root: Path) -> None:
    with pytest.raises(NotComparableError, match=r"^git diff fails: "):
        files_changed_since(UNKNOWN, root)
