"""ChainCRF and ChainSVM: every kind of input, every answer, errors that name the place, files, pickles and clones."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from chain_reference import enumerated, random_chains
from widemargin import ChainCRF, ChainSVM, load_model

BOTH = pytest.mark.parametrize("kind", [ChainCRF, ChainSVM])
WORDS = [
    [{"w": "the", "cap": True}, {"w": "dog"}, {"w": "runs"}],
    [{"w": "a"}, {"w": "cat"}],
    [{"w": "the"}, {"w": "cat"}, {"w": "sleeps", "n": 2.5}],
]
TAGS = [["D", "N", "V"], ["D", "N"], ["D", "N", "V"]]


def cut(values, lengths):
    return np.split(values, np.cumsum(lengths)[:-1])


@BOTH
def test_all_kinds_of_input_are_the_same_model(kind):
    given = random_chains(1, lengths=[3, 1, 4, 2, 5])
    X, y, lengths = given["X"], given["y"], given["lengths"]
    dense = X.toarray()
    rows = cut(np.arange(len(dense)), lengths)
    labels = [part.tolist() for part in cut(y, lengths)]
    dicts = [[{f"f{j}": dense[t, j] for j in range(5)} for t in part] for part in rows]
    flat = kind(tol=1e-8).fit(X, y, lengths)
    forms = {
        "matrices": [X[part] for part in rows],
        "dense": [dense[part] for part in rows],
        "dicts": dicts,
        "generators": ((token for token in sequence) for sequence in dicts),
    }
    for name, form in forms.items():
        model = kind(tol=1e-8).fit(form, labels)
        np.testing.assert_allclose(model.coef_, flat.coef_, atol=1e-3, err_msg=name)
        again = dicts if name == "generators" else form
        assert model.predict(again) == [part.tolist() for part in cut(flat.predict(X, lengths), lengths)]
        assert model.score(again, labels) == flat.score(X, y, lengths)
    assert flat.certificate_.relative_gap <= 1e-8
    assert flat.coef_.shape == (3, 5) and flat.transitions_.shape == (3, 3)


def test_attributes_of_every_kind():
    X = [[{"a": "x", "b": 2, "c": ["p", "q"], "d": {"e": 0.5, "f": "g"}, "h": False}, ["plain"]]]
    model = ChainCRF().fit(X, [["u", "v"]])
    names = {"a:x", "b", "c:p", "c:q", "d:e", "d:f:g", "h", "plain"}
    assert set(model._attributes.names) == names
    assert {name for name, _ in model.top_features(100)["u"]} <= names
    assert model.predict([[{"unknown": 1}, ["plain"]], [["a:x"]]]) == [["u", "v"], ["u"]]
    assert model.predict([]) == [] and model.predict_nbest([]) == [] and model.predict_marginals([]) == []


def test_marginals_and_n_best_by_enumeration():
    given = random_chains(2, lengths=[3, 1, 4])
    model = ChainCRF(tol=1e-6).fit(**given)
    z = given["X"] @ model.coef_.T
    for part, mu, best in zip(
        cut(np.arange(8), [3, 1, 4]),
        cut(model.predict_marginals(given["X"], [3, 1, 4]), [3, 1, 4]),
        model.predict_nbest(given["X"], 4, [3, 1, 4]),
        strict=True,
    ):
        wanted = enumerated(z[part], model.transitions_)
        np.testing.assert_allclose(mu, wanted.mu, atol=1e-12)
        order = np.argsort(-wanted.scores)[:4]
        assert [labels for labels, _ in best] == wanted.labelings[order].tolist()
        np.testing.assert_allclose([score for _, score in best], wanted.scores[order])


def test_known_labels_are_kept():
    model = ChainCRF(C=5.0).fit(WORDS, TAGS)
    known = [["V", None, None], [None, "D"], [None] * 3]
    found = model.decode(WORDS, known)
    assert found[0][0] == "V" and found[1][1] == "D" and found[2] == TAGS[2]
    with pytest.raises(ValueError, match="sequence 1, position 0: 'X' is no label"):
        model.decode(WORDS, [[None] * 3, ["X", None], [None] * 3])
    with pytest.raises(ValueError, match="one entry for each token"):
        model.decode(WORDS, [[None]])


def test_spans_are_counted_as_conlleval_does():
    X = [[[f"t{i}"] for i in range(6)]]
    y = [["B-NP", "I-NP", "O", "B-VP", "B-NP", "O"]]
    scores = ChainCRF(C=100.0).fit(X, y).score_spans(X, y)
    assert scores[""].f1 == 1.0 and scores["NP"].wanted == 2 and scores["VP"].right == 1


@BOTH
def test_files_pickles_and_clones(kind, tmp_path):
    model = kind(features="observed", transitions="observed").fit(WORDS, TAGS)
    model.save(tmp_path / "tags.wm")
    for again in (load_model(tmp_path / "tags.wm"), pickle.loads(pickle.dumps(model))):
        assert type(again) is kind
        assert again.get_params() == model.get_params()
        assert again.predict(WORDS) == model.predict(WORDS) == TAGS
        assert (again.coef_ == model.coef_).all() and (again.transitions_ == model.transitions_).all()
        assert again.certificate_ == model.certificate_
        assert again.top_features(3) == model.top_features(3)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        clone(model).predict(WORDS)
    data = bytearray((tmp_path / "tags.wm").read_bytes())
    data[-1] ^= 1
    with pytest.raises(ValueError, match="altered"):
        load_model(io.BytesIO(bytes(data)))


def test_numbers_as_labels_survive_a_file(tmp_path):
    given = random_chains(3)
    model = ChainCRF().fit(**given)
    model.save(tmp_path / "m.wm")
    again = load_model(tmp_path / "m.wm")
    assert (again.predict(given["X"], given["lengths"]) == model.predict(given["X"], given["lengths"])).all()


def test_grid_search_over_sequences():
    X, y = WORDS * 4, TAGS * 4
    search = GridSearchCV(ChainCRF(), {"C": [0.01, 10.0]}, cv=3).fit(X, y)
    assert search.best_score_ == 1.0


def test_warm_start_begins_at_the_last_model():
    given = random_chains(4)
    model = ChainCRF(warm_start=True, solver="tron", tol=1e-8).fit(**given)
    first = model.n_iter_
    assert model.fit(**given).n_iter_ < first
    other = random_chains(5, k=4)
    assert model.fit(**other).classes_.tolist() == [0, 1, 2, 3]


def test_weights_of_labels_and_sequences():
    heavy = ChainCRF(tol=1e-8).fit(WORDS, TAGS, sample_weight=[2.0, 1.0, 1.0])
    twice = ChainCRF(tol=1e-8).fit([*WORDS, WORDS[0]], [*TAGS, TAGS[0]])
    assert heavy.certificate_.primal == pytest.approx(twice.certificate_.primal, rel=1e-7)
    factors = {"D": 1.0, "N": 1.0, "V": 4.0}
    by_label = ChainCRF(tol=1e-8, class_weight=factors).fit(WORDS, TAGS)
    by_hand = ChainCRF(tol=1e-8).fit(WORDS, TAGS, sample_weight=[2.0, 1.0, 2.0])
    assert by_label.certificate_.primal == pytest.approx(by_hand.certificate_.primal, rel=1e-7)
    assert ChainCRF(class_weight="balanced").fit(WORDS, TAGS).score(WORDS, TAGS) == 1.0


def test_rare_features_are_left_out():
    assert ChainCRF(min_count=2).fit(WORDS, TAGS)._attributes.names == ["w:the", "w:cat"]
    X = sp.csr_array(np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]))
    assert (ChainCRF(min_count=2, C=9.0).fit(X, [0, 1, 1]).coef_[:, 1] == 0).all()
    with pytest.raises(ValueError, match="min_count=9 leaves no attribute"):
        ChainCRF(min_count=9).fit(WORDS, TAGS)


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
def test_sparse_models(penalty):
    model = ChainCRF(C=0.5, penalty=penalty, tol=1e-5).fit(WORDS, TAGS)
    assert model.solver_ == "owlqn" and (model.coef_ == 0).mean() > 0.3


@pytest.mark.parametrize("loss", ["hamming", [[0, 1, 5], [1, 0, 1], [5, 1, 0]]])
def test_costs(loss):
    assert ChainSVM(loss=loss, tol=1e-5).fit(WORDS, TAGS).predict(WORDS) == TAGS


def with_value(value):
    X = random_chains(0)["X"].toarray()
    X[6, 2] = value
    return X


@pytest.mark.parametrize(
    ("X", "y", "lengths", "message"),
    [
        ([[{"a": np.nan}]], [["x"]], None, "sequence 0, position 0: feature 'a' is nan"),
        ([[["a"]], []], [["x"], []], None, "sequence 1 is empty"),
        ([[["a"], "bc"]], [["x", "y"]], None, "sequence 0, position 1: a token is a dict or a list"),
        ([[["a"], [3]]], [["x", "y"]], None, "sequence 0, position 1: attribute 3 is no string"),
        ([[["a"], ["b"]]], [["x"]], None, "sequence 0 has 2 tokens and 1 labels"),
        ([[["a"]], [["b"], ["c"]]], [["x"], ["y", None]], None, "sequence 1, position 1: the label is missing"),
        ([[["a"]]], [["x"], ["y"]], None, "y has 2 sequences, X has 1"),
        ([[["a"]]], [["x"]], None, "two classes or more"),
        ([], [], None, "X holds no sequence"),
        ([[["a"]]], [["x"]], [1], "lengths belong to one matrix"),
        (with_value(np.inf), np.arange(15) % 3, [5, 10], "sequence 1, position 1: feature 2 is not finite"),
        (sp.csr_array(with_value(np.nan)), np.arange(15) % 3, [5, 10], "sequence 1, position 1: feature 2"),
        (with_value(0.0), np.arange(15) % 3, [5, 9], "lengths add up to 14 tokens, X has 15"),
        (with_value(0.0), np.arange(15) % 3, [15, 0], "sequence 1 is empty"),
        ([np.ones((1, 2)), np.ones((1, 3))], [[0], [1]], None, "sequence 1 has 3 features, the first one 2"),
    ],
)
def test_errors_name_the_place(X, y, lengths, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ChainCRF().fit(X, y, lengths)


def test_other_errors():
    model = ChainCRF().fit(WORDS, TAGS)
    with pytest.raises(ValueError, match="fitted to attributes"):
        model.predict(np.ones((2, 3)))
    flat = ChainCRF().fit(**random_chains(0))
    with pytest.raises(TypeError, match="fitted to matrices"):
        flat.predict(WORDS)
    with pytest.raises(ValueError, match="X has 4 features, the model was fitted to 5"):
        flat.predict(np.ones((2, 4)))
    with pytest.raises(ValueError, match="sample_weight has shape"):
        ChainCRF().fit(WORDS, TAGS, sample_weight=[1.0])
    with pytest.raises(ValueError, match="loss must be 'hamming'"):
        ChainSVM(loss="edit").fit(WORDS, TAGS)
    with pytest.raises(ValueError, match="unknown solver"):
        ChainCRF(solver="crfsuite").fit(WORDS, TAGS)
    with pytest.raises(ValueError, match="'dual_cd' does not solve"):
        ChainCRF(solver="dual_cd").fit(WORDS, TAGS)


def test_a_run_that_does_not_converge_is_told():
    with pytest.warns(ConvergenceWarning, match="ChainCRF ended with status"):
        ChainCRF(tol=0.0, max_seconds=1e-9).fit(**random_chains(0))
