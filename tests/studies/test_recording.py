"""The command line of recordings rejects values that it would not use."""

from __future__ import annotations

import pytest

from studies.recording.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--group", "quiet"], "no group 'quiet'; there are: java-migration"),
        (["events", "--group", "java-next"], "no group 'java-next'"),
        (["events", "--seconds", "5"], "planned events have no random churn"),
    ],
)
def test_a_wrong_value_ends_with_two(
    arguments: list[str],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["recording", *arguments, "--out", "out/none"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert reason in capsys.readouterr().err
