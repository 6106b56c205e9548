"""What a file of blocks cannot do is refused with the names of those that can; what it has read is shown."""

from __future__ import annotations

import numpy as np
import pytest

from block_rows import on_disk
from widemargin import LinearOneClassSVM, LinearSVC, Problem, solve
from widemargin.progress import describe
from widemargin.solvers import Pegasos


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).standard_normal((200, 5))


def test_all_classes_at_once_are_solved_in_memory(rows):
    file = on_disk(rows, y=np.digitize(rows[:, 0], [-0.5, 0.5]).astype(float))
    with pytest.raises(ValueError, match=r"over BlockFile; with all rows in memory .* use: .*crammer_singer"):
        LinearSVC(multi_class="crammer_singer").fit(file)
    assert LinearSVC(multi_class="crammer_singer").fit(file.load(), file.y).solution_.converged


def test_one_class_is_solved_in_memory_and_scores_a_file(rows):
    file = on_disk(rows + 2)
    with pytest.raises(
        ValueError, match=r"'one_class' needs rows in order.*; with all rows in memory .* use: one_class"
    ):
        LinearOneClassSVM().fit(file)
    model = LinearOneClassSVM().fit(rows + 2)
    assert np.allclose(model.score_samples(file), model.score_samples(rows + 2))


@pytest.mark.parametrize("solver", ["sgd_s", "sgd_m", "svm_sgd", "pegasos"])
def test_stochastic_solvers_name_those_that_read_files(rows, solver):
    with pytest.raises(ValueError, match=r"needs rows in order, which BlockFile lacks; use one of: block_dual_cd"):
        solve(Problem(on_disk(rows), np.sign(rows[:, 0]), "hinge"), solver)


def test_pegasos_on_all_rows_reads_files(rows):
    y = np.sign(rows[:, 0] + 0.3 * rows[:, 1])
    there, here = (
        solve(Problem(X, y, "hinge"), Pegasos(subsample=None), tol=1e-2, max_iter=3000) for X in (on_disk(rows), rows)
    )
    assert there.converged and there.certificate.primal == pytest.approx(here.certificate.primal, rel=1e-9)


def test_a_run_tells_what_it_has_read(rows):
    file = on_disk(rows)
    assert file.bytes_read > 0
    found = solve(Problem(file, np.sign(rows[:, 0]), "hinge"), "multipliers", tol=1e-4)
    read = [row.bytes_read for row in found.trace]
    assert read == sorted(read) and read[-1] >= file.n_bytes
    assert f"read {read[-1] / 1e6:,.1f} MB" in describe(found.trace[-1], 1e-4)
    here = solve(Problem(rows, np.sign(rows[:, 0]), "hinge"), tol=1e-4)
    assert here.trace[-1].bytes_read == 0 and "read" not in describe(here.trace[-1], 1e-4)
