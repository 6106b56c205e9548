"""Export to ONNX: a real runtime gives our predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from widemargin import Model, cli, load_model

runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

TEXT = ["cold", "hot", "mild", "wet"]


def made(rows: int, classes: list[Any], **more: Any) -> Model:
    rng = np.random.default_rng(rows)
    return Model(rng.standard_normal((rows, 7)), rng.standard_normal(rows), classes=classes, **more)


MODELS = {
    "two": made(1, [-1, 1]),
    "two in text": made(1, ["no", "yes"], loss="logistic"),
    "many": made(4, [3, 1, 4, 10]),
    "many in text": made(4, TEXT, loss="logistic"),
    "fractions": made(3, [0.5, 1, 2.5]),
    "joint of two": made(2, [0, 1], loss="crammer_singer"),
    "pairs": made(6, TEXT, decision="pairs"),
    "pairs of three": made(3, [5, 6, 7], decision="pairs"),
    "regression": made(1, [], task="regression", loss="squared"),
    "one class": made(1, [], task="one_class", loss="one_class"),
}


def run(content: bytes, X: Any) -> dict[str, Any]:
    session = runtime.InferenceSession(content)
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, {"X": X}), strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_the_runtime_predicts_what_we_predict(name: str) -> None:
    model = MODELS[name]
    X = np.random.default_rng(0).standard_normal((500, 7))
    found = run(model.to_onnx().SerializeToString(), X)
    scores = model.scores(X)
    np.testing.assert_allclose(found["scores"], scores, rtol=1e-12, atol=1e-13)
    if model.task == "regression":
        np.testing.assert_allclose(found["prediction"], model.predict(X), rtol=1e-12, atol=1e-13)
    else:
        assert found["label"].tolist() == model.predict(X)
    if model.has_probabilities:
        np.testing.assert_allclose(found["probabilities"], model.probabilities(scores), rtol=1e-12, atol=1e-15)
    assert ("probabilities" in found) == model.has_probabilities


def test_the_command_line_exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((100, 3))
    lines = [f"{int(x[0] > 0)} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x.tolist())) for x in X]
    Path("data.svm").write_text("\n".join(lines) + "\n")
    assert cli.main(["train", "-q", "-B", "1", "data.svm", "a.wm"]) == 0
    assert cli.main(["convert", "a.wm", "a.onnx"]) == 0
    assert cli.main(["convert", "--dtype", "float32", "a.wm", "small.onnx"]) == 0
    expected = load_model("a.wm").predict(X)
    assert run(Path("a.onnx").read_bytes(), X)["label"].tolist() == expected
    assert run(Path("small.onnx").read_bytes(), X.astype(np.float32))["label"].tolist() == expected


def test_what_onnx_cannot_hold_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    MODELS["two"].save(tmp_path / "a.wm")
    assert cli.main(["convert", "--sparse", str(tmp_path / "a.wm"), str(tmp_path / "a.onnx")]) == 1
    assert "stored dense" in capsys.readouterr().err
    with pytest.raises(ValueError, match="too large for float32"):
        Model([[1e300]], [0.0], classes=[0, 1]).save(tmp_path / "a.onnx", dtype="float32")
    assert not (tmp_path / "a.onnx").exists()


def test_without_onnx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"widemargin\[onnx\]"):
        MODELS["two"].to_onnx()
