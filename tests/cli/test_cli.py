"""The command line: its commands, exit codes and errors, and that it starts light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import widemargin
from widemargin import cli


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"widemargin {widemargin.__version__}\n"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--help"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in cli.COMMANDS)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main([name, "--help"])
    shown = capsys.readouterr().out
    assert f"usage: widemargin {name}" in shown and f"examples:\n  widemargin {name}" in shown


@pytest.mark.parametrize(
    "wrong", [[], ["nonsense"], ["demo", "--lines", "many"], ["demo", "--lines", "0"], ["demo", "--seconds", "-1"]]
)
def test_wrong_usage_is_2(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(wrong)
    assert "usage:" in capsys.readouterr().err


def test_solvers_lists_what_each_solves(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["solvers"]) == 0
    shown = capsys.readouterr().out
    assert "dual_cd" in shown and "squared_hinge" in shown
    assert cli.main(["solvers", "--names"]) == 0
    assert capsys.readouterr().out.split() == list(widemargin.solvers.table())


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(arguments: object) -> None:
        raise error

    command = SimpleNamespace(
        SUMMARY="fails", EXAMPLES="", __doc__="Fails.", add_arguments=lambda parser: None, run=run
    )
    monkeypatch.setattr(cli, "import_module", lambda name, package: command)


def test_an_error_is_one_line_and_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fail_with(monkeypatch, ValueError("row 3 is wrong"))
    assert cli.main(["demo"]) == 1
    assert capsys.readouterr().err == "widemargin: error: row 3 is wrong\n"
    with pytest.raises(ValueError, match="row 3"):
        cli.main(["--traceback", "demo"])


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fail_with(monkeypatch, KeyboardInterrupt())
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err == "\nwidemargin: interrupted\n"


def test_it_starts_without_anything_heavy() -> None:
    code = (
        "import sys; from widemargin.cli import build_parser; build_parser(); "
        "print([name for name in ('numpy', 'scipy', 'sklearn', 'matplotlib', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m widemargin solvers | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_common_commands_load(tmp_path: Path) -> None:
    """Labels for text need no NumPy, training on text needs no SciPy: both would take longer than the work."""
    data, model = tmp_path / "a.svm", tmp_path / "a.wm"
    rng = np.random.default_rng(0)
    rows = [[f"{j + 1}:{rng.random():.3f}" for j in sorted(rng.choice(9000, 5, replace=False))] for _ in range(60)]
    data.write_text("".join(f"{(-1) ** i} {' '.join(row)}\n" for i, row in enumerate(rows)))

    def loaded(*words: str) -> list[str]:
        code = (
            "import sys; from widemargin.cli import main; main(sys.argv[1:])\n"
            "heavy = ('numpy', 'scipy', 'sklearn', 'matplotlib', 'rich', 'inspect')\n"
            "print([name for name in heavy if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
        return list(eval(done.stdout.splitlines()[-1]))

    for kind in ("0", "1", "3"):
        assert "scipy" not in loaded("train", "-q", "-s", kind, str(data), str(model))
        assert loaded("predict", "-q", str(model), str(data), str(tmp_path / "out")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("train - a.wm <&-", 1),
        ("predict a.wm - <&-", 1),
        ("solvers >&-", 0),
        ("solvers >&- 2>&-", 0),
        ("nonsense 2>&-", 2),
    ],
)
def test_closed_streams_are_no_traceback(command: str, code: int, tmp_path: Path) -> None:
    words = ["bash", "-c", f"{sys.executable} -m widemargin {command}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == code and "Traceback" not in done.stderr and "internal" not in done.stderr
    assert done.stderr.count("\n") <= 1


@pytest.mark.parametrize(
    "before", ["", "from widemargin import solve; ", "import widemargin.solvers.dual.dual_cd as d; "]
)
def test_solvers_can_be_called_whatever_was_imported_before(before: str) -> None:
    code = f"{before}import widemargin; print('dual_cd' in widemargin.solvers.table())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
