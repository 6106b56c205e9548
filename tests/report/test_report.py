"""The page about a run: complete, escaped, self-contained, and right in a real browser at the width of a phone."""

from __future__ import annotations

import html.parser
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from widemargin import cli
from widemargin.report.charts import Axis, Series, bars, curves

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = "<script>alert(1)</script>"
VOID = {"meta", "br", "path", "circle", "rect"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_table(name: str = "a&b <i>.csv", rows: int = 150) -> str:
    rng = np.random.default_rng(0)
    lines = [f'size,"{EVIL}",colour,class']
    for a, b, c in rng.standard_normal((rows, 3)).tolist():
        kind = "good" if a + b > 0.3 else ("<b>bad" if c > 0 else "so & so")
        lines.append(f"{a},{b},{'<red>' if c > 0 else 'blue'},{kind}")
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def write_svm(name: str = "data.svm", rows: int = 200) -> str:
    X = np.random.default_rng(1).standard_normal((rows, 5))
    lines = [f"{1 if x.sum() > 0 else -1} " + " ".join(f"{j + 1}:{v:.4f}" for j, v in enumerate(x)) for x in X]
    Path(name).write_text("\n".join(lines) + "\n")
    return name


class Tags(html.parser.HTMLParser):
    """Every tag is closed where it should be; remembers tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_holds_everything_and_escapes_it() -> None:
    data = write_table()
    words = ["--loss", "logistic", "--intercept", "free", "--label", "class", "-e", "1e-5", "--report", "r.html"]
    assert cli.main(["train", "-q", *words, data, "a.wm"]) == 0
    page = Tags(Path("r.html").read_text())
    names = {tag for tag, _ in page.seen}
    assert "script" not in names and "b" not in names and "i" not in names
    for expected in ("Trained on a&b <i>.csv", "Proof", "Convergence", "Confusion matrix", "Data", EVIL, "so & so",
                     "<b>bad", "colour=<red>", "relative duality gap", "converged"):  # fmt: skip
        assert expected in page.text
    assert sum(tag == "svg" for tag, _ in page.seen) == 1 + 3
    # Nothing is fetched, and the browser is told to refuse if anything tried.
    assert not any({"src", "href", "srcset", "data", "action"} & set(attributes) for _, attributes in page.seen)
    assert "url(" not in Path("r.html").read_text() and "default-src 'none'" in Path("r.html").read_text()


def test_the_confusion_matrix_counts_the_predictions(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_svm()
    assert cli.main(["train", "-q", "-c", "0.001", "--report", "r.html", data, "a.wm"]) == 0
    assert cli.main(["predict", "a.wm", data, "out.txt"]) == 0
    correct, total = re.search(r"\((\d+)/(\d+)\)", capsys.readouterr().out).groups()  # type: ignore[union-attr]
    assert f"{correct} of {total} right" in Tags(Path("r.html").read_text()).text


@pytest.mark.parametrize("command", [["train", "-C"], ["path", "-c", "0.01", "-c", "1"]])
def test_a_search_shows_the_score_against_C(command: list[str]) -> None:
    data = write_svm()
    assert cli.main([*command, "-v", "3", "-q", "--report", "r.html", data]) == 0
    page = Tags(Path("r.html").read_text())
    assert "Search for C" in page.text and "best C = " in page.text and "accuracy of held-out rows" in page.text


@pytest.mark.parametrize("options", [["-s", "11"], ["-s", "21"], ["-s", "4"], ["-M", "1"]])
def test_every_task_has_a_page(options: list[str]) -> None:
    rng = np.random.default_rng(2)
    lines = [f"{rng.integers(0, 30)} 1:{rng.random():.4f} 2:{rng.random():.4f}" for _ in range(200)]
    Path("many.svm").write_text("\n".join(lines) + "\n")
    assert cli.main(["train", "-q", *options, "--max-seconds", "2", "--report", "r.html", "many.svm", "a.wm"]) == 0
    assert {"-s 11": "Errors", "-s 21": "outside", "-s 4": "taken for", "-M 1": "taken for"}[" ".join(options)] in Tags(
        Path("r.html").read_text()
    ).text


def test_a_page_that_cannot_be_written_is_refused_before_the_training(capsys: pytest.CaptureFixture[str]) -> None:
    data = write_svm()
    assert cli.main(["train", "--report", "none/r.html", data, "a.wm"]) == 1
    assert cli.main(["train", "-v", "3", "--report", "r.html", data]) == 1
    assert not os.path.exists("a.wm") and not os.path.exists("r.html")
    assert capsys.readouterr().err.count("\n") == 2


def test_charts_of_odd_data() -> None:
    assert curves([], "x", "y") == "" and bars([("a", 0.0)]) == ""
    assert "nan" not in curves([Series("one", [1.0], [5.0])], "x", "y", log_y=True)
    assert "nan" not in curves([Series("flat", [1.0, 2.0], [0.0, 0.0])], "x", "y")
    assert Axis(0.0, 1.0, False, 0.0, 100.0).ticks() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert Axis(1e-6, 1.0, True, 0.0, 1.0).ticks() == pytest.approx([1e-6, 1e-4, 1e-2, 1.0])


@pytest.mark.skipif(BROWSER is None, reason="needs chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_it_without_scrolling_sideways(width: int, tmp_path: Path) -> None:
    """The page measures itself through a probe that is added here, since it runs no script of its own."""
    data = write_table()
    assert cli.main(["train", "-q", "--label", "class", "--report", "r.html", data, "a.wm"]) == 0
    text = re.sub(r"<meta http-equiv[^>]*>", "", Path("r.html").read_text())
    probe = (
        "<script>document.title = [document.documentElement.scrollWidth, innerWidth,"
        " [...document.querySelectorAll('svg')].every(s => s.getBoundingClientRect().width > 200),"
        " Math.min(...[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height)),"
        " performance.getEntriesByType('resource').length].join(' ')</script>"
    )
    # A frame of that width: a headless window has a least width of its own.
    Path("probe.html").write_text(text.replace("</body>", probe + "</body>"))
    Path("frame.html").write_text(
        f"<iframe src=probe.html width={width} height=2000></iframe><script>onload = () => document.title ="
        " frames[0].document.title</script>"
    )
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
               f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom",
               f"file://{tmp_path / 'frame.html'}"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = re.search(r"<title>(\d+) (\d+) (\w+) ([\d.]+) (\d+)</title>", done.stdout)
    assert found, done.stdout[-500:]
    page_width, window_width, wide_enough, smallest_text, requests = found.groups()
    assert int(page_width) <= int(window_width) <= width
    assert wide_enough == "true" and float(smallest_text) >= 11 and requests == "0"
