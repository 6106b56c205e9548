"""Models on disk: `.wm` and LIBLINEAR's text, what survives the way there and back, and what is refused."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin import Model, load_model, write_svmlight
from widemargin.model.liblinear import SOLVER_TYPES
from widemargin.model.store import ALIGN, write_wm

needs_liblinear = pytest.mark.skipif(
    shutil.which("liblinear-train") is None, reason="needs liblinear-train and liblinear-predict"
)


def some_model(classes: int = 3, features: int = 7, seed: int = 0) -> Model:
    rng = np.random.default_rng(seed)
    rows = 1 if classes == 2 else classes
    weights = rng.standard_normal((rows, features)) * (rng.random((rows, features)) < 0.6)
    facts = [{"objective": 1.5, "dual": 1.4, "relative_gap": 0.07, "status": "converged"}] * rows
    return Model(
        weights,
        rng.standard_normal(rows),
        classes=list(range(1, classes + 1)),
        settings={"C": 0.1},
        certificates=facts,
        features={"names": [f"f{j}" for j in range(features)]},
    )


def stored(model: Model, **options: object) -> bytes:
    file = io.BytesIO()
    write_wm(model, file, **options)
    return file.getvalue()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_everything_comes_back(tmp_path: Path, classes: int, sparse: bool, dtype: str) -> None:
    model = some_model(classes)
    path = tmp_path / "a.wm"
    model.save(path, dtype=dtype, sparse=sparse)
    back = load_model(path)
    assert sp.issparse(back.weights) is sparse and back.weights.dtype == dtype
    np.testing.assert_array_equal(back.dense_weights(), model.weights.astype(dtype))
    np.testing.assert_array_equal(back.intercepts, model.intercepts)
    for name in ("task", "classes", "loss", "settings", "certificates", "features", "version"):
        assert getattr(back, name) == getattr(model, name)
    X = np.random.default_rng(1).standard_normal((50, 7))
    assert back.predict(X) == Model(model.weights.astype(dtype), model.intercepts, classes=model.classes).predict(X)
    assert back.predict(sp.csr_array(X)) == back.predict(X)
    assert os.listdir(tmp_path) == ["a.wm"]


def test_weights_are_mapped_not_read(tmp_path: Path) -> None:
    some_model().save(tmp_path / "a.wm")
    weights = load_model(tmp_path / "a.wm").weights
    assert not weights.flags.owndata and not weights.flags.writeable
    assert weights.ctypes.data % ALIGN == 0


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_altered_or_shortened_file_is_refused(data: st.DataObject) -> None:
    content = bytearray(stored(some_model(), sparse=data.draw(st.booleans())))
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[at:]
    else:
        content[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ValueError, match="<stream>"):
        load_model(io.BytesIO(bytes(content)))


def forged(change: object) -> bytes:
    """A file with a valid checksum whose header was changed by someone who means harm."""
    import hashlib
    import struct

    content = stored(some_model())
    (length,) = struct.unpack("<Q", content[16:24])
    header = json.loads(content[64 : 64 + length])
    text = json.dumps(change(header)).encode()  # type: ignore[operator]
    text += b" " * (-len(text) % 64)
    body = text + content[64 + length :]
    start = content[:16] + struct.pack("<QQ", len(text), 64 + len(body))
    return start + hashlib.sha256(start + body).digest() + body


def arrays(**facts: object) -> object:
    def change(header: dict) -> dict:
        header["arrays"]["weights"].update(facts)
        return header

    return change


@pytest.mark.parametrize(
    "change",
    [
        arrays(shape=[3, 10**15]),
        arrays(shape=[-3, -7]),
        arrays(shape=[2**62, 4, 2]),
        arrays(offset=10**18),
        arrays(offset=-64),
        arrays(offset=8),
        arrays(dtype="O"),
        arrays(dtype="|V999999"),
        arrays(shape=None),
        lambda h: h | {"classes": [1, 2]},
        lambda h: h | {"classes": [1, 1, 2]},
        lambda h: h | {"classes": [[1], {}, None]},
        lambda h: h | {"task": "magic"},
        lambda h: h | {"shape": [1]},
        lambda h: h | {"features": {"names": ["one"]}},
        lambda h: {k: v for k, v in h.items() if k != "arrays"},
        lambda h: h | {"arrays": {}},
        lambda h: [],
        lambda h: "text",
        lambda h: h | {"certificates": 5},
    ],
)
def test_a_forged_header_is_refused(change: object) -> None:
    with pytest.raises(ValueError, match="<stream>"):
        load_model(io.BytesIO(forged(change)))


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x04\x95pickle", b"1 1:2\n", b"solver_type", b"\x93WMODEL\n"])
def test_foreign_files_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="<stream>: "):
        load_model(io.BytesIO(content))


def test_a_newer_format_says_so() -> None:
    content = stored(some_model())
    with pytest.raises(ValueError, match="format 2, this Widemargin reads format 1"):
        load_model(io.BytesIO(content[:8] + b"\x02" + content[9:]))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error_and_the_device_stays() -> None:
    with pytest.raises(OSError):
        some_model().save("/dev/full")
    assert not os.path.isfile("/dev/full")


def test_a_killed_writer_leaves_the_old_model(tmp_path: Path) -> None:
    path = tmp_path / "a.wm"
    some_model(seed=1).save(path)
    before = path.read_bytes()
    code = (
        "import os, sys, numpy as np; from widemargin import Model; from widemargin.data.files import written_whole\n"
        "with written_whole(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -9
    assert path.read_bytes() == before
    load_model(path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": [[1.0]], "intercepts": [0.0], "classes": [1]},
        {"weights": [[1.0]], "intercepts": [0.0, 1.0], "classes": [1, 2]},
        {"weights": [[np.nan]], "intercepts": [0.0], "classes": [1, 2]},
        {"weights": [[1.0]], "intercepts": [np.inf], "classes": [1, 2]},
        {"weights": [[1.0]], "intercepts": [0.0], "classes": [1, 1]},
        {"weights": [[1.0]], "intercepts": [0.0], "task": "other"},
    ],
)
def test_impossible_models_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError):
        Model(**wrong)


def test_too_large_for_float32_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="float32"):
        Model([[1e300]], [0.0], classes=[1, 2]).save(tmp_path / "a.wm", dtype="float32")
    assert not os.listdir(tmp_path)


# LIBLINEAR's text.


@settings(max_examples=50, deadline=None)
@given(
    st.integers(2, 4),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=20, max_size=20),
    st.floats(-1e3, 1e3),
)
def test_liblinear_text_keeps_every_bit(classes: int, values: list[float], intercept: float) -> None:
    rows = 1 if classes == 2 else classes
    weights = np.array(values).reshape(4, 5)[:rows]
    model = Model(weights, [intercept] * rows, classes=[5, -3, 8, 0][:classes], settings={"bias": 1.0})
    file = io.BytesIO()
    from widemargin.model.liblinear import write_liblinear

    write_liblinear(model, file)
    back = load_model(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(back.weights, weights)
    np.testing.assert_array_equal(back.intercepts, model.intercepts)
    assert back.classes == model.classes


@pytest.mark.parametrize("classes", [["a", "b"], [0.5, 1], [2**40, 1]])
def test_liblinear_needs_whole_numbers_as_labels(tmp_path: Path, classes: list) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        Model([[1.0]], [0.0], classes=classes).save(tmp_path / "a.model")
    assert not os.listdir(tmp_path)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_damaged_liblinear_text_is_refused_or_read(data: st.DataObject) -> None:
    text = b"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5 \n-2 \n3 \n"
    at = data.draw(st.integers(11, len(text)))
    damaged = text[:at] + data.draw(st.binary(max_size=4)) + text[at + data.draw(st.integers(0, 5)) :]
    try:
        load_model(io.BytesIO(damaged))
    except ValueError as error:
        assert "<stream>" in str(error)  # noqa: PT017


def write_data(path: Path, classes: int, regression: bool = False) -> np.ndarray:
    rng = np.random.default_rng(classes)
    X = sp.random_array((300, 20), density=0.4, rng=rng, format="csr")
    scores = X @ rng.standard_normal((20, classes)) + 0.3 * rng.standard_normal((300, classes))
    y = scores[:, 0] if regression else np.array([3, -1, 10, 4][:classes])[scores.argmax(axis=1)]
    write_svmlight(path, X, y)
    return X.toarray()


def liblinear_predict(data: Path, model: Path, *options: str) -> list[str]:
    out = data.with_suffix(".out")
    subprocess.run(
        ["liblinear-predict", *options, str(data), str(model), str(out)], check=True, stdout=subprocess.DEVNULL
    )
    return out.read_text().splitlines()


@needs_liblinear
@pytest.mark.parametrize("bias", ["-1", "2.5"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("solver", [one.number for one in SOLVER_TYPES if one.number < 21])
def test_liblinear_reads_ours_and_we_read_theirs(tmp_path: Path, solver: int, classes: int, bias: str) -> None:
    data, theirs, ours = tmp_path / "data.svm", tmp_path / "theirs.model", tmp_path / "ours.model"
    X = write_data(data, classes, regression=solver > 10)
    train = ["liblinear-train", "-q", "-s", str(solver), "-B", bias, str(data), str(theirs)]
    subprocess.run(train, check=True)
    model = load_model(theirs)
    expected = liblinear_predict(data, theirs)
    predicted = model.predict(X)
    if solver > 10:
        np.testing.assert_allclose(predicted, [float(line) for line in expected], rtol=1e-5)
    else:
        assert [str(label) for label in predicted] == expected
    model.save(ours)
    assert liblinear_predict(data, ours) == expected
    if solver in (0, 6, 7):
        assert liblinear_predict(data, ours, "-b", "1") == liblinear_predict(data, theirs, "-b", "1")


# scikit-learn.


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("classes", [2, 4])
def test_to_sklearn_predicts_the_same(loss: str, classes: int) -> None:
    model = some_model(classes)
    model = Model(model.weights, model.intercepts, classes=model.classes, loss=loss)
    X = np.random.default_rng(3).standard_normal((40, 7))
    exported = model.to_sklearn()
    assert exported.predict(X).tolist() == model.predict(X)
    if loss == "logistic":
        np.testing.assert_allclose(exported.predict_proba(X), model.probabilities(model.scores(X)), rtol=1e-12)


def test_regression_and_one_class_to_sklearn() -> None:
    X = np.random.default_rng(3).standard_normal((40, 2))
    regression = Model([[1.0, 2.0]], [0.5], "regression", loss="squared")
    np.testing.assert_allclose(regression.to_sklearn().predict(X), regression.predict(X))
    one_class = Model([[1.0, 2.0]], [-0.5], "one_class", loss="one_class")
    assert one_class.to_sklearn().predict(X).tolist() == one_class.predict(X)
