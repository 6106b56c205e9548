"""Several problems over the same rows, begun side by side: each ends as it would alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from support import random_data
from widemargin import LinearSVC, LogisticRegression, Matrix, Problem, _core, solve
from widemargin.model.fit import Recipe, fit_model
from widemargin.objective.losses import make_loss
from widemargin.solvers.auto import choose
from widemargin.solvers.run import side_by_side
from widemargin.solvers.run.side_by_side import Together, begin_together, goes_on_with

LOSSES = ("hinge", "squared_hinge", "logistic", "modified_huber")

# More features than a Newton method takes at once, so that `auto` begins with dual coordinate descent.
WIDE = 1500


def classes_data(k: int, seed: int = 0, rows: int = 300, columns: int = WIDE) -> tuple[sp.csr_array, np.ndarray]:
    X, _ = random_data(seed, rows, columns, density=0.02)
    X = X * 0.2  # rows of about unit length
    rng = np.random.default_rng(seed)
    codes = (X @ rng.standard_normal((columns, k)) + 0.1 * rng.standard_normal((rows, k))).argmax(axis=1)
    codes[:k] = np.arange(k)
    return X, codes


def begin(X, codes, k, *, tol=1e-6, workers=1, numbers=None, **settings):
    """What Together makes of the problems `numbers` of one against the rest, and these problems."""
    numbers = list(range(k)) if numbers is None else numbers
    shared = Matrix(X)
    problems = [Problem(shared, np.where(codes == c, 1.0, -1.0), **settings) for c in numbers]
    together = Together(problems[0], tol, 0, choose(problems[0]))
    begun = together.begin(lambda at: codes == numbers[at], len(numbers), workers=workers)
    return begun, problems


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_each_ends_at_the_optimum_of_its_own_problem(loss, intercept):
    X, codes = classes_data(5)
    weights = np.random.default_rng(1).uniform(0.0, 2.0, len(codes))
    weights[::7] = 0.0
    begun, problems = begin(X, codes, 5, loss=loss, intercept=intercept, C=0.5, sample_weight=weights)
    for one, problem in zip(begun, problems, strict=True):
        together = solve(problem, one, tol=1e-6)
        alone = solve(problem, "dual_cd", tol=1e-8)
        assert together.converged
        assert together.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-6)
        assert len(one.steps) <= together.n_iter


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_storage_and_precision(convert, dtype, tol):
    X, codes = classes_data(4, seed=3)
    X = convert(X.toarray()).astype(dtype)
    begun, problems = begin(X, codes, 4, tol=tol, loss="squared_hinge")
    for one, problem in zip(begun, problems, strict=True):
        found = solve(problem, one, tol=tol)
        assert found.converged and found.certificate.relative_gap <= tol


def test_the_estimate_of_the_last_pass_is_honest():
    """The pass estimate may be stale, but where it says done the driver agrees here: no second solver is needed."""
    X, codes = classes_data(6)
    begun, problems = begin(X, codes, 6, tol=1e-4, loss="squared_hinge")
    for one, problem in zip(begun, problems, strict=True):
        assert one.steps[-1].looks_done and not any(step.looks_done for step in one.steps[:-1])
        found = solve(problem, one, tol=1e-4)
        assert found.n_iter == len(one.steps) and found.solver == "dual_cd"
        assert found.certificate.gap <= 1.5 * one.steps[-1].gap


@pytest.mark.parametrize("loss", LOSSES)
def test_neighbours_do_not_matter(loss):
    """Alone, among others, or in other groups: the same bits."""
    X, codes = classes_data(9)
    whole, _ = begin(X, codes, 9, loss=loss, intercept="free", tol=1e-4)
    for workers in (2, 4, 9):
        parts, _ = begin(X, codes, 9, loss=loss, intercept="free", tol=1e-4, workers=workers)
        for a, b in zip(whole, parts, strict=True):
            assert np.array_equal(a.dual, b.dual) and a.intercept == b.intercept
            assert [step.gap for step in a.steps] == [step.gap for step in b.steps]


def test_more_lanes_than_one_group_holds():
    X, codes = classes_data(40, rows=400)
    begun, problems = begin(X, codes, 40, loss="squared_hinge", tol=1e-3)
    assert len(begun) == 40
    for number in (0, 31, 32, 39):
        assert solve(problems[number], begun[number], tol=1e-3).converged


def test_a_hard_problem_leaves_early_and_ends_all_the_same():
    X, codes = classes_data(4)
    begun, problems = begin(X * 500, codes, 4, loss="hinge", tol=1e-8, C=1000.0)
    assert all(not one.steps[-1].looks_done for one in begun)
    assert all(len(one.steps) < 100 for one in begun)
    for one, problem in zip(begun, problems, strict=True):
        found = solve(problem, one, tol=1e-4)
        assert found.converged and found.n_iter > len(one.steps)
        assert [row.iteration for row in found.trace][: len(one.steps)] == list(range(1, len(one.steps) + 1))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_estimators_begin_together(loss, monkeypatch):
    X, codes = classes_data(5)
    begun = []
    begin_all = Together.begin
    monkeypatch.setattr(Together, "begin", lambda *args, **kw: begun.append(begin_all(*args, **kw)) or begun[-1])
    model = LinearSVC(loss=loss, tol=1e-8).fit(X, codes)
    assert [len(one) for one in begun] == [5]
    two = LinearSVC(loss=loss, tol=1e-8, n_jobs=2).fit(X, codes)
    monkeypatch.setattr(side_by_side, "FEWEST_TOGETHER", 100)
    apart = LinearSVC(loss=loss, tol=1e-8).fit(X, codes)
    assert np.array_equal(model.coef_, two.coef_) and np.array_equal(model.intercept_, two.intercept_)
    # Strong convexity: |w - w*|^2 / 2 is at most the gap.
    most = 2 * max(np.sqrt(2 * c.gap) for c in (*model.certificates_, *apart.certificates_))
    assert np.abs(model.coef_ - apart.coef_).max() <= most
    assert model.n_iter_ >= 1


def test_the_command_line_begins_together_too():
    X, codes = classes_data(5)
    fitted = fit_model(X, codes, Recipe(loss="hinge", tol=1e-6))
    model = LinearSVC(loss="hinge", tol=1e-6, fit_intercept=False).fit(X, codes)
    assert np.array_equal([one.coef for one in fitted.solutions], model.coef_)


def test_time_that_runs_out_ends_the_passes():
    X, codes = classes_data(5)
    like = Problem(X, np.where(codes == 0, 1.0, -1.0), loss="hinge")
    asked = {"solver": "auto", "tol": 1e-12, "max_iter": None, "seed": 0}
    begun = begin_together(like, lambda c: codes == c, 5, max_seconds=1e-9, **asked)
    assert begun is not None and [len(one.steps) for one in begun] == [1] * 5
    assert begin_together(like, lambda c: codes == c, 2, **asked) is None


def test_several_labels_with_some_that_all_rows_share():
    X, codes = classes_data(4)
    Y = np.column_stack([codes == 0, codes == 1, np.ones(len(codes), bool), codes == 2, codes <= 1]).astype(int)
    with pytest.warns(UserWarning, match="label 2 is present in every row"):
        model = LogisticRegression(tol=1e-6).fit(X, Y)
    alone = LogisticRegression(tol=1e-6).fit(X, Y[:, 4])
    assert np.allclose(model.coef_[4], alone.coef_[0], atol=2e-2)
    assert (model.predict(X)[:, 2] == 1).all()


def test_warm_starts_and_limits_are_not_begun_together(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("not to be called")

    X, codes = classes_data(4)
    model = LinearSVC(warm_start=True).fit(X, codes)
    monkeypatch.setattr(Together, "begin", refuse)
    model.fit(X, codes)
    LinearSVC(max_iter=100).fit(X, codes)
    LinearSVC(solver="tron").fit(X, codes)
    LinearSVC(penalty="l1").fit(X[:, :50], codes)


def test_only_where_auto_begins_with_dual_coordinate_descent():
    X, codes = classes_data(3)
    y = np.where(codes == 0, 1.0, -1.0)
    assert None is not goes_on_with(Problem(X, y, loss="hinge"), "auto")
    assert None is not goes_on_with(Problem(X, y, loss="logistic"), "auto")
    assert None is goes_on_with(Problem(X, y, loss="logistic", C=100.0), "auto")  # stiff
    assert None is goes_on_with(Problem(X, y, loss="logistic"), "tron")
    assert None is goes_on_with(Problem(X, y, loss="logistic", penalty="l1"), "auto")
    assert None is goes_on_with(Problem(X, y, loss="squared"), "auto")


def native(sides, X=None, C=None):
    X = Matrix(np.eye(3)) if X is None else X
    hinge = make_loss("hinge").native
    return _core.SideBySide(X.native_rows, hinge, sides, np.ones(3) if C is None else C, 0.0, False, 1, 0, True)


def test_the_core_refuses_what_it_cannot_use():
    good = np.ones(6, dtype=np.int8)
    with pytest.raises(ValueError, match=r"sides must be \+1 or -1, found 0"):
        native(np.zeros(6, dtype=np.int8))
    with pytest.raises(ValueError, match="sides has length 7"):
        native(np.ones(7, dtype=np.int8))
    with pytest.raises(ValueError, match="at least one lane"):
        native(np.ones(0, dtype=np.int8))
    with pytest.raises(ValueError, match="C has length 2"):
        native(good, C=np.ones(2))
    lanes = native(good)
    with pytest.raises(ValueError, match="there is no lane 2, there are 2"):
        lanes.gap(2)
    with pytest.raises(ValueError, match="there is no lane -1"):
        lanes.rest(-1)
    with pytest.raises(ValueError, match="v has length 2, expected 3"):
        lanes.dual(0, np.empty(2))
    with pytest.raises(ValueError, match="at least one lane must be kept"):
        lanes.keep([])
    with pytest.raises(ValueError, match="ascending"):
        lanes.keep([1, 0])
    lanes.keep([1])
    assert lanes.n_lanes == 1


def test_the_time_together_is_told():
    X, codes = classes_data(6)
    begun, problems = begin(X, codes, 6, tol=1e-6, loss="hinge")
    found = solve(problems[0], begun[0], tol=1e-6)
    assert begun[0].share > 0
    assert all(row.seconds >= begun[0].share for row in found.trace) and found.seconds >= begun[0].share


def test_one_row_of_great_length_does_not_rule_the_free_intercept():
    X, codes = classes_data(3, rows=200)
    X = sp.csr_array(X + sp.csr_array(([1e6], ([3], [7])), shape=X.shape))
    model = LinearSVC(loss="hinge").fit(X, codes)
    assert all(solution.converged for solution in model.solutions_)
    assert max(solution.n_iter for solution in model.solutions_) < 200


@pytest.mark.parametrize("values", [(0, 2), (1, 2), (-1, 0)])
def test_a_table_of_labels_holds_zeros_and_ones(values):
    X, codes = classes_data(3, rows=60)
    Y = np.take(values, np.column_stack([codes == c for c in range(3)]).astype(int))
    with pytest.raises(ValueError, match="a table of labels holds 0 and 1"):
        LinearSVC().fit(X, Y)
