"""Newton's method with a factorisation, truncated Newton and L-BFGS: optimal, in agreement, and fast at the end."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from support import random_data, random_problem, real_data
from widemargin import Problem, Status, _core, solve
from widemargin.objective.linear_smooth import LinearRay
from widemargin.objective.losses import LOSSES, SMOOTH_LOSSES, make_loss
from widemargin.objective.problem import INTERCEPTS
from widemargin.solvers import LBFGS, TRON, DualCD, HandOver, NewtonCholesky
from widemargin.solvers.auto import choose, rules_as_markdown
from widemargin.solvers.linalg.cg import ResidualRule, truncated_cg
from widemargin.solvers.linalg.gram import Gram
from widemargin.solvers.newton.equations import NewtonEquations
from widemargin.solvers.newton.lbfgs import Past
from widemargin.solvers.newton.line_search import exact

SMOOTH = sorted(SMOOTH_LOSSES)
SOLVERS: dict[str, Any] = {
    "newton_cholesky": "newton_cholesky",
    "tron": TRON(search="trust_region"),
    "tron_line_search": TRON(search="line_search"),
    "lbfgs": "lbfgs",
}
STORAGES = {
    "sparse64": lambda X: X,
    "sparse32": lambda X: X.astype(np.float32),
    "uniform": lambda X: _binary(X),
    "dense64": lambda X: X.toarray(),
    "dense32": lambda X: X.toarray().astype(np.float32),
}


def _binary(X: sp.csr_array) -> sp.csr_array:
    X = X.copy()
    X.data[:] = 0.5
    return X


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("loss", "intercept"), list(product(SMOOTH, INTERCEPTS)))
def test_reaches_a_small_gap(solver: str, loss: str, intercept: str) -> None:
    rng = np.random.default_rng(1)
    weights = rng.choice([0.0, 0.5, 2.0], 60)
    for seed, storage in enumerate(STORAGES.values()):
        problem = random_problem(
            seed, loss, intercept=intercept, C=3.0, convert=storage, sample_weight=weights, intercept_scaling=2.0
        )
        solution = solve(problem, SOLVERS[solver], tol=1e-8)
        assert solution.status is Status.CONVERGED
        again = problem.certificate(solution.coef, solution.intercept, solution.dual)
        assert again.relative_gap <= 2e-8


@pytest.mark.parametrize(("loss", "intercept"), list(product(SMOOTH, INTERCEPTS)))
def test_all_agree(loss: str, intercept: str) -> None:
    problem = random_problem(7, loss, intercept=intercept, C=0.7)
    solutions = [solve(problem, solver, tol=1e-11) for solver in (*SOLVERS.values(), DualCD())]
    best = min(s.certificate.primal for s in solutions)
    for solution in solutions:
        assert solution.certificate.primal == pytest.approx(best, rel=1e-8)
        assert solution.coef == pytest.approx(solutions[0].coef, abs=1e-4)
        assert solution.intercept == pytest.approx(solutions[0].intercept, abs=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("loss", "option"), [("logistic", 0), ("squared_hinge", 2)])
def test_agrees_with_liblinear(loss: str, option: int, solver: str) -> None:
    from liblinear.liblinearutil import parameter, train
    from liblinear.liblinearutil import problem as liblinear_problem

    X, response = random_data(11, rows=200, columns=20)
    y = np.sign(response)
    model = train(liblinear_problem(y, sp.csr_matrix(X)), parameter(f"-s {option} -c 2 -e 1e-12 -q"))
    w = np.array(model.w[:20]) * (1 if model.label[0] == 1 else -1)
    problem = Problem(X, y, loss=loss, C=2.0)
    solution = solve(problem, SOLVERS[solver], tol=1e-12)
    assert solution.certificate.primal == pytest.approx(problem.objective(w), rel=1e-8)
    assert solution.coef == pytest.approx(w, rel=1e-4, abs=1e-5)


def test_agrees_with_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    X, response = random_data(13, rows=200, columns=20)
    y = np.sign(response)
    peer = LogisticRegression(C=2.0, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X.toarray(), y)
    problem = Problem(X, y, loss="logistic", C=2.0, intercept="free")
    for solver in SOLVERS.values():
        solution = solve(problem, solver, tol=1e-12)
        best = problem.objective(peer.coef_[0], float(peer.intercept_[0]))
        assert solution.certificate.primal == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("solver", ["newton_cholesky", "tron", "tron_line_search"])
def test_last_steps_are_superlinear(solver: str) -> None:
    """Each of the last steps takes a smaller share of the gradient over than the one before it."""
    problem = random_problem(17, "logistic", rows=400, columns=40, C=10.0, intercept="free")
    trace = solve(problem, SOLVERS[solver], tol=1e-20).trace
    gaps = [row.gap for row in trace if not row.certified and row.gap > 1e-18 * row.objective]
    shares = np.sqrt(np.array(gaps[1:]) / np.array(gaps[:-1]))
    assert shares[-1] < 0.05 and shares[-2] < 0.2
    assert shares[-1] < shares[-3] / 2


@pytest.mark.parametrize("loss", ["squared_hinge", "modified_huber", "squared_epsilon_insensitive"])
def test_finite_termination(loss: str) -> None:
    """On pieces of parabolas Newton's method ends exactly, with the active rows unchanged in the last step."""
    problem = random_problem(19, loss, rows=300, columns=15, intercept="regularized")
    solution = solve(problem, "newton_cholesky", tol=1e-13)
    assert solution.converged and solution.n_iter < 20
    assert solution.trace[-1].n_active == solution.trace[-2].n_active


@pytest.mark.parametrize("constant", [0.0, 1.5])
@pytest.mark.parametrize("storage", STORAGES)
def test_gram_matrix(storage: str, constant: float) -> None:
    X, response = random_data(23, rows=2500, columns=40, density=0.2)
    X = STORAGES[storage](X)
    problem = Problem(X, response, loss="squared")
    rng = np.random.default_rng(5)
    h = rng.random(2500) * (rng.random(2500) < 0.7)
    full = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if constant:
        full = np.column_stack([full, np.full(len(full), constant)])
    expected = full.T @ (h[:, None] * full)
    found = []
    for n_jobs in (1, 2, 3):
        gram = Gram(problem.X, constant, n_jobs)
        gram.update(h)
        found.append(np.triu(gram.matrix))
    assert found[0] == pytest.approx(np.triu(expected), rel=1e-12, abs=1e-12)
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


@pytest.mark.parametrize("storage", STORAGES)
def test_gram_matrix_is_corrected_by_changed_rows(storage: str) -> None:
    X, response = random_data(29, rows=500, columns=20)
    problem = Problem(STORAGES[storage](X), response, loss="squared")
    rng = np.random.default_rng(6)
    h = np.where(rng.random(500) < 0.5, 2.0, 0.0)
    gram = Gram(problem.X, 1.0)
    assert gram.update(h) == np.count_nonzero(h) / 500
    for _ in range(10):
        h = h.copy()
        change = rng.choice(500, 20, replace=False)
        h[change] = 2.0 - h[change]
        assert gram.update(h) == 20 / 500
    fresh = Gram(problem.X, 1.0)
    fresh.update(h)
    assert np.triu(gram.matrix) == pytest.approx(np.triu(fresh.matrix), rel=1e-12, abs=1e-12)
    assert gram.update(h) == 0


def test_core_refuses_wrong_sizes() -> None:
    rows = random_problem(1, "squared").X.native_rows
    with pytest.raises(ValueError, match="columns, expected 13"):
        _core.add_gram(rows, np.ones(60), 1.0, np.zeros((12, 12)))
    with pytest.raises(ValueError, match="h has length 3"):
        _core.add_gram(rows, np.ones(3), 0.0, np.zeros((12, 12)))
    with pytest.raises(ValueError, match="square"):
        _core.add_gram(rows, np.ones(60), 0.0, np.zeros((3, 12)))
    with pytest.raises(ValueError, match="no rows"):
        _core.gather_scaled(rows, np.ones(60), 1.0, 58, 61, 0.0, np.zeros((3, 12)))
    with pytest.raises(ValueError, match="too few lines"):
        _core.gather_scaled(rows, np.ones(60), 1.0, 0, 4, 0.0, np.zeros((3, 12)))
    with pytest.raises(ValueError, match="dz has length"):
        _core.ray_slope(make_loss("squared").native, np.ones(3), np.ones(2), np.ones(3), np.ones(3), 1.0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_threads_do_not_matter(solver: str, loss: str) -> None:
    problem = random_problem(31, loss, rows=3000, columns=30, density=0.2, intercept="free")
    one, two, three = (solve(problem, SOLVERS[solver], tol=1e-6, n_jobs=n) for n in (1, 2, 3))
    assert np.array_equal(one.coef, two.coef) and np.array_equal(one.coef, three.coef)
    assert one.intercept == two.intercept == three.intercept


PASSES = {
    "matvec": lambda X, u, w, n: [_filled(len(u), lambda z: _core.matvec(X, w, 0.5, z, n))],
    "rmatvec": lambda X, u, w, n: [_filled(len(w), lambda g: _core.rmatvec(X, u, g, n))],
    "hess_vec": lambda X, u, w, n: [
        _filled(len(w), lambda g: _core.hess_vec(X, np.abs(u), w, 0.5, np.empty(len(u)), g, n))
    ],
    "column_sqnorms": lambda X, u, w, n: [_filled(len(w), lambda d: _core.weighted_column_sqnorms(X, u, d, n))],
}


def _filled(size: int, fill: Any) -> np.ndarray:
    out = np.zeros(size)
    fill(out)
    return out


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("columns", [7, 900])
@pytest.mark.parametrize("name", PASSES)
def test_passes_do_not_depend_on_threads(name: str, columns: int, storage: str) -> None:
    """Narrow data are cut by rows, wide data by columns; either way every bit is the same."""
    X, _ = random_data(71, rows=20_000, columns=columns, density=0.5 if columns == 7 else 0.003)
    rows = Problem(STORAGES[storage](X), np.arange(20_000.0), loss="squared").X.native_rows
    rng = np.random.default_rng(8)
    u, w = rng.standard_normal(20_000) * (rng.random(20_000) < 0.8), rng.standard_normal(columns)
    one, *others = ([*PASSES[name](rows, u, w, n)] for n in (1, 2, 3, 5))
    for other in others:
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    if name == "rmatvec":
        full = STORAGES[storage](X)
        assert one[0] == pytest.approx(np.asarray(full.T @ u, dtype=float), rel=1e-5, abs=1e-4)


@pytest.mark.parametrize(("loss", "intercept"), list(product(SMOOTH, INTERCEPTS)))
def test_start_from_a_sample(loss: str, intercept: str) -> None:
    """Rows are many: the first steps see a sample of them, the result is that of all of them."""
    X, response = random_data(73, rows=6000, columns=30)
    y = np.where(response > 1.5, 1.0, -1.0) if LOSSES[loss].classification else response
    weights = np.random.default_rng(2).choice([0.0, 1.0, 3.0], 6000)
    problem = Problem(X, y, loss=loss, intercept=intercept, sample_weight=weights, C=0.5)
    solution = solve(problem, "newton_cholesky", tol=1e-10)
    assert solution.converged
    assert np.isnan(solution.trace[0].gap) and np.isfinite(solution.trace[-1].gap)
    best = solve(problem, "tron", tol=1e-10).certificate.primal
    assert solution.certificate.primal == pytest.approx(best, rel=1e-9)
    again = solve(problem, "newton_cholesky", tol=1e-10, n_jobs=2)
    assert np.array_equal(solution.coef, again.coef)
    made = [row.iteration for row in solution.trace]
    assert made == sorted(made)


def test_sample_without_a_row_that_counts() -> None:
    X, _ = random_data(79, rows=5000, columns=5)
    weights = np.zeros(5000)
    weights[[17, 4021]] = 1.0
    problem = Problem(X, np.where(np.arange(5000) < 3000, 1, -1), sample_weight=weights, intercept="free")
    assert solve(problem, "newton_cholesky", tol=1e-9).converged


def test_old_factor_solves_the_newton_equations() -> None:
    """The factor of another point is a preconditioner: the equations of this point are solved, to the share asked."""
    f = random_problem(83, "logistic", rows=4000, columns=60, density=0.9, C=1.0, intercept="free").smooth()
    equations = NewtonEquations(f)
    start = f.start(None)
    d, _ = equations.solve(start, 0.1)
    ray = f.ray(start, d)
    at = ray.moved(exact(ray))
    H = np.column_stack([f.hess_vec(at, e) for e in np.eye(f.size)])
    wanted = np.linalg.solve(H, -at.gradient)
    for xi in (1e-1, 1e-4, 1e-9):
        found, products = equations._by_old_factor(at, xi, 200)
        assert found is not None and products < 60
        error = found - wanted
        assert error @ H @ error <= 4 * xi * xi * (wanted @ H @ wanted)
    assert equations._by_old_factor(at, 1e-9, 1) == (None, 1)


@pytest.mark.parametrize("solver", SOLVERS)
def test_warm_start(solver: str) -> None:
    problem = random_problem(37, "logistic", rows=200, intercept="free")
    first = solve(problem, SOLVERS[solver], tol=1e-9)
    again = solve(problem, SOLVERS[solver], tol=1e-9, warm_start=first)
    assert again.n_iter == 0 and again.converged
    near = Problem(problem.X, problem.y, loss="logistic", C=1.1, intercept="free")
    assert solve(near, SOLVERS[solver], tol=1e-9, warm_start=first).n_iter < first.n_iter


def _badly_scaled(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns from 1e-3 to 1e5, two nearly collinear, one almost constant."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 12))
    X[:, 3] = X[:, 2] + 1e-4 * X[:, 3]
    X *= np.logspace(-3, 5, 12)
    X[:, 5] += 1e4
    return X, X @ (rng.standard_normal(12) / np.logspace(-3, 5, 12)) + rng.standard_normal(400)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_unscaled_data_converge(loss: str, intercept: str) -> None:
    X, response = _badly_scaled(41)
    y = np.sign(response - np.median(response)) if LOSSES[loss].classification else response
    y[y == 0] = 1
    for solver in ("newton_cholesky", "auto"):
        for C in (1.0, 1000.0):
            solution = solve(Problem(X, y, loss=loss, C=C, intercept=intercept), solver, tol=1e-6)
            assert solution.converged, (solver, C, solution)


@pytest.mark.parametrize(("name", "target"), [("covtype", 2.0), ("madelon", 1.0), ("cadata", None), ("cpusmall", None)])
def test_real_unscaled_data_converge(name: str, target: float | None) -> None:
    X, y = real_data(name)
    losses = ("squared", "squared_epsilon_insensitive") if target is None else ("squared_hinge", "logistic")
    for loss in losses:
        problem = Problem(X, y if target is None else y == target, loss=loss, C=10.0, intercept="free")
        assert solve(problem, "auto", tol=1e-6).converged


def test_too_many_features_are_refused() -> None:
    problem = random_problem(43, "squared", columns=30)
    with pytest.raises(ValueError, match=r"30 x 30 matrix.*use solver='tron'"):
        solve(problem, NewtonCholesky(max_features=20))
    with pytest.raises(ValueError, match="unknown search"):
        TRON(search="none")


def test_limits_and_callbacks() -> None:
    problem = random_problem(47, "logistic", rows=300)
    for solver in SOLVERS.values():
        assert solve(problem, solver, tol=0.0, max_iter=2).n_iter == 2
        assert solve(problem, solver, tol=0.0).certificate.relative_gap <= 1e-13
        seen: list[int] = []

        def stop_at_two(row: Any, seen: list[int] = seen) -> bool:
            seen.append(row.iteration)
            return row.iteration == 2

        assert solve(problem, solver, tol=0.0, callback=stop_at_two).status is Status.INTERRUPTED
        assert seen == [0, 1, 2]


def test_one_class_only_beyond_the_margin() -> None:
    """No row is active at the optimum: the free intercept has no curvature there."""
    X = np.array([[1.0], [1.0], [-1.0]])
    for loss in ("squared_hinge", "modified_huber"):
        problem = Problem(X, [1, 1, -1], loss=loss, C=1e6, intercept="free")
        assert solve(problem, "newton_cholesky", tol=1e-8).converged
        assert solve(problem, "tron", tol=1e-8).converged


def _ray(loss: str, seed: int) -> tuple[LinearRay, Any]:
    f = random_problem(seed, loss, intercept="free").smooth()
    rng = np.random.default_rng(seed)
    at = f.start(None)
    d = -at.gradient * rng.random(f.size)
    return f.ray(at, d), lambda t: f.problem.objective((at.x + t * d)[:-1], float((at.x + t * d)[-1]))


@pytest.mark.parametrize("loss", SMOOTH)
def test_line_searches(loss: str) -> None:
    for seed in range(5):
        ray, objective = _ray(loss, seed)
        for t in (0.0, 0.01, 0.5, 3.0):
            assert ray.value(t) == pytest.approx(objective(t), rel=1e-12)
            step = 1e-6
            slope = (objective(t + step) - objective(t - step)) / (2 * step)
            assert ray.slope(t)[0] == pytest.approx(slope, rel=1e-4, abs=1e-4 * abs(ray.start_slope))
        assert ray.slope(0.0)[0] == pytest.approx(ray.start_slope, rel=1e-10)
        t = exact(ray, slope_left=1e-10)
        around = [objective(t * (1 + change)) for change in np.linspace(-0.5, 0.5, 101)]
        assert objective(t) <= min(around) + 1e-12 * abs(objective(t))


def test_truncated_cg_stays_within_the_radius() -> None:
    rng = np.random.default_rng(53)
    A = rng.standard_normal((20, 20))
    H, g, M = np.eye(20) + A.T @ A, rng.standard_normal(20), 1 + rng.random(20)
    full = truncated_cg(lambda v: H @ v, g, M, np.inf, ResidualRule(1e-12), lambda: True)
    assert full.s == pytest.approx(np.linalg.solve(H, -g), rel=1e-8)
    assert full.model == pytest.approx(0.5 * float(g @ full.s), rel=1e-8)
    assert full.solved and not full.on_border
    for share in (0.9, 0.3, 0.01):
        short = truncated_cg(lambda v: H @ v, g, M, share * full.length, ResidualRule(1e-12), lambda: True)
        assert short.on_border and not short.solved
        assert np.sqrt(short.s @ (M * short.s)) == pytest.approx(share * full.length, rel=1e-10)
        assert short.model == pytest.approx(float(g @ short.s + 0.5 * short.s @ H @ short.s), rel=1e-8)


def test_truncated_cg_says_when_the_equations_are_not_solved() -> None:
    g = np.array([1.0, 2.0, 3.0])
    H = np.diag([1.0, 10.0, 100.0])
    cut = truncated_cg(lambda v: H @ v, g, np.ones(3), np.inf, ResidualRule(1e-9), lambda: False)
    assert (cut.n_products, cut.solved) == (1, False)
    # Without a border there is nowhere to go along a direction that does not curve upwards.
    flat = truncated_cg(lambda v: 0 * v, g, np.ones(3), np.inf, ResidualRule(1e-9), lambda: True)
    assert not flat.solved and np.array_equal(flat.s, np.zeros(3))


def test_two_loop_recursion_is_the_bfgs_formula() -> None:
    """-B g, B the inverse Hessian that the updates of Broyden, Fletcher, Goldfarb and Shanno make of a diagonal one."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((6, 6))
    H, diagonal = A @ A.T + np.eye(6), 1 + rng.random(6)
    past, steps = Past(4, diagonal), [rng.standard_normal(6) for _ in range(7)]
    for s in steps:
        past.learn(s, H @ s)
    last = steps[-1]
    B = np.diag(1 / diagonal) * (last @ H @ last) / ((H @ last) @ (H @ last / diagonal))
    for s in steps[-4:]:  # what the memory holds
        V = np.eye(6) - np.outer(s, H @ s) / (s @ H @ s)
        B = V @ B @ V.T + np.outer(s, s) / (s @ H @ s)
    g = rng.standard_normal(6)
    np.testing.assert_allclose(past.direction(g), -B @ g, rtol=1e-9)
    past.learn(np.ones(6), np.zeros(6))  # nothing bends there: what was learnt is not believed any more
    np.testing.assert_allclose(past.direction(g), -g / diagonal, rtol=1e-15)


@pytest.mark.parametrize("memory", [0, -1, 2.5])
def test_lbfgs_needs_a_memory(memory: Any) -> None:
    with pytest.raises(ValueError, match="memory must be at least 1 and whole"):
        LBFGS(memory=memory)


def test_hand_over() -> None:
    X, response = _badly_scaled(59)
    problem = Problem(X, response > np.median(response), C=100.0, intercept="free")
    solution = solve(problem, HandOver(DualCD(), TRON(), budget=30), tol=1e-6)
    assert solution.converged and solution.solver == "dual_cd+tron"
    iterations_made = [row.iteration for row in solution.trace]
    assert iterations_made == sorted(iterations_made)
    easy = random_problem(61, "squared_hinge", C=0.01)
    assert solve(easy, HandOver(DualCD(), TRON()), tol=1e-3).solver == "dual_cd"


def test_the_documentation_prints_the_rules_of_auto():
    page = (Path(__file__).parents[3] / "docs" / "solvers.md").read_text()
    assert page.count("| problem | solver |") == 1
    begin = page.index("| problem | solver |")
    assert page[begin : page.index("\n\n", begin) + 1] == rules_as_markdown()


def chosen(problem: Problem) -> str:
    """The solvers that `auto` takes, in their order."""
    return choose(problem).title


def test_auto_rules() -> None:
    """Newton or descent by shape and stiffness; whoever it is, the interior-point method is behind them."""
    dense = {"rows": 700, "columns": 500, "density": 1.0}
    many_rows = {"rows": 30_000, "columns": 10, "density": 0.9}
    wide = {"rows": 50, "columns": 6000, "density": 0.01}
    then = ", then interior_point"
    assert chosen(random_problem(67, "logistic", rows=2000, columns=10)) == "newton_cholesky" + then
    assert chosen(random_problem(67, "squared_hinge", **wide)) == "dual_cd, then tron" + then
    assert chosen(random_problem(67, "hinge", **wide)) == "dual_cd" + then
    assert chosen(random_problem(67, "hinge")) == "dual_cd, then multipliers" + then
    assert chosen(random_problem(67, "logistic", **dense)) == "dual_cd, then newton_cholesky" + then
    raw = random_problem(67, "logistic", convert=lambda X: 1e3 * X, **dense)
    assert chosen(raw) == "newton_cholesky" + then
    assert chosen(random_problem(67, "hinge", C=1.0, **many_rows)) == "multipliers" + then
    assert chosen(random_problem(67, "hinge", C=0.001, **many_rows)) == "dual_cd, then multipliers" + then
    assert chosen(random_problem(67, "squared", "l1")) == "prox_newton" + then
    assert chosen(random_problem(67, "squared", "l1", columns=100)) == "lasso_cd" + then
    assert chosen(random_problem(67, "logistic", "elasticnet")) == "prox_newton" + then
    assert chosen(random_problem(67, "logistic", "l1", **wide)) == "newglmnet" + then
    assert chosen(random_problem(67, "hinge", "l1")) == "multipliers" + then
