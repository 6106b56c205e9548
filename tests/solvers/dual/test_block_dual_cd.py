"""Dual coordinate descent over blocks: as good as in memory, in as many passes, within the memory it is given."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from block_rows import on_disk
from support import random_problem, real_data
from widemargin import Matrix, Problem, solve
from widemargin.data.block_file.memory import block_bytes, in_words, parse_memory
from widemargin.objective.losses import LOSSES
from widemargin.solvers import BlockDualCD, DualCD, HandOver
from widemargin.solvers.auto import choose
from widemargin.solvers.dual.block_plan import BlockPlan
from widemargin.solvers.dual.block_state import fixed_bytes


def text_like(rows=6000, columns=2000, seed=0, noise=1.0):
    """Sparse rows of unit length with words that are common or rare, and labels that words tell."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(2, columns + 2)
    X = sp.csr_array(rng.random((rows, columns)) < 3 * chance).astype(np.float64)
    X.data *= rng.uniform(0.5, 1.5, X.nnz)
    X = sp.csr_array(sp.diags_array(1 / np.sqrt(np.maximum(X.multiply(X).sum(axis=1), 1e-9))) @ X)
    score = X @ rng.standard_normal(columns) + 0.3 * noise * rng.standard_normal(rows)
    return X, np.where(score > np.median(score), 1.0, -1.0)


def narrow(problem, blocks=20):
    """The same problem with memory for two blocks of about a twentieth of the rows."""
    file = problem.X
    room = max(2 * file.chunk_sizes.sum() / blocks, 2.001 * 5 * file.chunk_sizes.max())
    return problem.over(file.with_memory(int(fixed_bytes(problem) + room)))


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_optimum_of_memory_from_many_small_blocks(loss, intercept):
    problem = random_problem(1, loss, intercept=intercept, rows=400, columns=30, C=0.5)
    expected = solve(problem, tol=1e-7)
    there = narrow(problem.over(on_disk(problem.X.to_scipy(), chunk_bytes=800)), blocks=6)
    assert len(BlockPlan(there.X, fixed_bytes(there), 0, "random").blocks(0, lambda k: True)) >= 5
    found = solve(there, "block_dual_cd", tol=1e-6)
    assert found.converged
    assert problem.certificate(found.coef, found.intercept, found.dual).relative_gap <= 1.001e-6
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=2e-6)


def passes_of(problem, solver, tol=1e-3, most=400):
    """Passes, each counted as one, whatever shrinking has left of it."""
    found = solve(problem, solver, tol=tol, max_iter=most)
    return found.n_iter if found.converged else np.inf


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("sorted_labels", [False, True])
def test_as_many_passes_as_in_memory(loss, sorted_labels):
    X, y = text_like()
    if sorted_labels:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    memory = Problem(X, y, loss, C=1.0)
    disk = narrow(memory.over(on_disk(X, chunk_rows=500, chunk_bytes=4000)))
    assert disk.X.n_chunks >= 100
    here, there = passes_of(memory, DualCD(order="permuted")), passes_of(disk, BlockDualCD())
    assert there <= math.ceil((1.3 if sorted_labels else 1.15) * here) + 1


def test_blocks_that_never_change_stall_on_sorted_files():
    X, y = text_like(noise=0.2)
    order = np.argsort(y, kind="stable")
    memory = Problem(X[order], y[order], "squared_hinge", C=10.0)
    disk = narrow(memory.over(on_disk(X[order], chunk_rows=500, chunk_bytes=4000)))
    mixed = passes_of(disk, BlockDualCD(), most=60)
    assert mixed < 60
    assert passes_of(disk, BlockDualCD(mixing="fixed"), most=int(2 * mixed)) == np.inf


def test_the_certificate_costs_no_pass_but_the_last():
    X, y = text_like(rows=2000, columns=500)
    for intercept in ("none", "free"):
        disk = narrow(Problem(on_disk(X, chunk_bytes=3000), y, "squared_hinge", intercept=intercept))
        disk.X.sample(2_000)
        before = disk.X.reader.bytes_read
        found = solve(disk, "block_dual_cd", tol=1e-3)
        read = disk.X.reader.bytes_read - before
        assert found.converged
        # Chunks are small here: the blocks of the disk around each count too.
        whole = sum(-(-int(n) // 4096) * 4096 + 4096 for n in disk.X.reader.index["row_bytes"])
        assert read <= found.n_iter * whole


def test_chunks_whose_rows_are_all_left_out_are_not_read():
    X, y = text_like(rows=4000, columns=300, noise=0.0)
    order = np.argsort(-y * (X @ solve(Problem(X, y, "hinge", C=10.0)).coef), kind="stable")
    disk = narrow(Problem(on_disk(X[order], chunk_bytes=3000), y[order], "hinge", C=10.0))
    found = solve(disk, BlockDualCD(), tol=1e-4)
    plain = solve(disk, BlockDualCD(shrinking=False), tol=1e-4)
    assert found.converged and found.trace[-1].passes < 0.9 * found.n_iter
    assert plain.converged and plain.trace[-1].passes == pytest.approx(plain.n_iter)
    assert found.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-4)


def test_the_same_seed_gives_the_same_run():
    X, y = text_like(rows=1500, columns=300)
    disk = narrow(Problem(on_disk(X, chunk_bytes=2000), y, "hinge"))
    one, two = (solve(disk, "block_dual_cd", seed=5) for _ in range(2))
    assert one.coef.tobytes() == two.coef.tobytes() and one.dual.tobytes() == two.dual.tobytes()
    assert solve(disk, "block_dual_cd", seed=6).coef.tobytes() != one.coef.tobytes()


def test_warm_starts_and_weights_of_zero():
    X, y = text_like(rows=1500, columns=300)
    weight = (np.arange(1500) % 3).astype(float)
    disk = narrow(Problem(on_disk(X, chunk_bytes=2000), y, "squared_hinge", intercept="free", sample_weight=weight))
    found = solve(disk, "block_dual_cd", tol=1e-4)
    assert solve(disk, "block_dual_cd", tol=1e-4, warm_start=found).n_iter == 0
    near = solve(disk.with_C(1.2), "block_dual_cd", tol=1e-4, warm_start=found)
    assert near.converged and near.n_iter <= found.n_iter
    assert found.dual[weight == 0].max() == 0


def test_float32_rows_reach_tight_tolerances():
    X, y = text_like(rows=1500, columns=300)
    for tol in (1e-4, 1e-7):
        disk = narrow(Problem(on_disk(X.astype(np.float32), chunk_bytes=2000), y, "squared_hinge", intercept="free"))
        assert solve(disk, "block_dual_cd", tol=tol).converged


def test_auto_chooses_it_for_files():
    X, y = text_like(rows=300, columns=1500)
    disk = Problem(on_disk(X), y, "hinge")
    assert choose(disk) == BlockDualCD()
    wide = Problem(on_disk(sp.csr_array(X[:, :1000])), y, "hinge")
    assert isinstance(choose(wide), HandOver) and choose(wide).first == BlockDualCD()
    found, expected = solve(disk, tol=1e-5), solve(Problem(X, y, "hinge"), tol=1e-5)
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=2e-5)


def test_settings_are_checked():
    with pytest.raises(ValueError, match="unknown mixing 'often'"):
        BlockDualCD(mixing="often")
    with pytest.raises(ValueError, match="inner_passes must be at least 1"):
        BlockDualCD(inner_passes=0)
    with pytest.raises(ValueError, match="needs rows in blocks, which Matrix lacks"):
        solve(Problem(Matrix(np.eye(2)), [1, -1]), "block_dual_cd")


def test_more_inner_passes_need_fewer_passes_over_the_file():
    X, y = text_like(noise=2.0)
    disk = narrow(Problem(on_disk(X, chunk_bytes=4000), y, "hinge", C=10.0))
    once, thrice = (passes_of(disk, BlockDualCD(inner_passes=n), 1e-3) for n in (1, 3))
    assert thrice < once


# Memory.


def test_amounts_of_memory():
    assert parse_memory("2G") == 2 << 30 and parse_memory("1.5 MiB") == 3 << 19 and parse_memory("10kb") == 10240
    for wrong in ("", "G", "-1G", "2 apples", 0, -5, None, 1.5, True):
        with pytest.raises(ValueError, match="is no amount of memory"):
            parse_memory(wrong)
    for amount in (1000, 4096, 123456789):
        assert parse_memory(in_words(amount)) >= amount


def test_too_little_memory_says_what_would_do():
    X, y = text_like(rows=3000, columns=400)
    problem = Problem(on_disk(X, chunk_bytes=2000), y, "hinge")
    poor = problem.over(problem.X.with_memory(100_000))
    with pytest.raises(MemoryError, match=r"memory=97\.7K is too little: .* give ") as refusal:
        solve(poor, "block_dual_cd")
    asked = str(refusal.value).rsplit("give ", 1)[1].split(",")[0]
    assert solve(problem.over(problem.X.with_memory(asked)), "block_dual_cd").converged
    assert block_bytes(1000, 100, 50, 1e9) == 382


PEAK = """
import sys
import numpy as np
from widemargin import BlockFile, Problem, solve
import scipy.sparse
file = BlockFile(sys.argv[1], memory="24M")
problem = Problem(file, file.y, "squared_hinge")
tiny = solve(Problem(np.eye(3), [1, -1, 1]))
def peak():  # in bytes; what getrusage tells is inherited from the parent
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])

before = peak()
found = solve(problem, "block_dual_cd", max_iter=4)
assert found.trace[-1].passes >= 2
print(peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts kilobytes as Linux does")
def test_peak_memory_stays_within_the_budget():
    rng = np.random.default_rng(0)
    X = sp.random_array((150_000, 5000), density=0.006, format="csr", rng=rng)
    y = np.sign(rng.standard_normal(150_000))
    file = on_disk(X, y=y, chunk_rows=20_000, chunk_bytes=200_000)
    assert file.chunk_sizes.sum() > 2.5 * 24e6
    peak = int(subprocess.run([sys.executable, "-c", PEAK, file.path], capture_output=True, check=True).stdout)
    assert peak <= 1.1 * (24 << 20)


@pytest.mark.parametrize(("name", "loss"), [("imdb_bow", "hinge"), ("20ng_bigram_binary", "squared_hinge")])
def test_real_text_takes_as_many_passes_as_in_memory(name, loss):
    X, y = real_data(name)
    X = sp.csr_array(sp.diags_array(1 / np.sqrt(np.maximum(X.multiply(X).sum(axis=1), 1e-9))) @ X)
    y = np.where(y == y.max(), 1.0, -1.0)
    memory = Problem(X, y, loss, C=1.0)
    disk = narrow(memory.over(on_disk(X, chunk_rows=2000, chunk_bytes=1 << 20)))
    assert passes_of(disk, BlockDualCD()) <= math.ceil(1.15 * passes_of(memory, DualCD(order="permuted"))) + 1


# Runs that go on.


@pytest.mark.parametrize(
    ("loss", "intercept"), [("hinge", "free"), ("squared_hinge", "none"), ("logistic", "regularized")]
)
def test_a_run_goes_on_bit_for_bit(tmp_path, loss, intercept):
    X, y = text_like(rows=1500, columns=300)
    disk = narrow(Problem(on_disk(X.astype(np.float32), chunk_bytes=2000), y, loss, intercept=intercept, C=3.0))
    parts = BlockDualCD(resume=str(tmp_path / "run"))
    ends = []
    while not ends or not ends[-1].converged:
        ends.append(solve(disk, parts, tol=1e-4, seed=3, max_iter=(ends[-1].n_iter if ends else 0) + 2))
    assert len(ends) > 1
    last = ends[-1]
    # A run that its limit ends is verified there, where one that goes on is not: both end after as many passes.
    whole = solve(disk, BlockDualCD(resume=str(tmp_path / "whole")), tol=1e-4, seed=3, max_iter=last.n_iter)
    assert last.n_iter == whole.n_iter
    assert (last.trace[-1].objective, last.trace[-1].dual) == (whole.trace[-1].objective, whole.trace[-1].dual)
    with np.load(tmp_path / "run") as one, np.load(tmp_path / "whole") as other:
        assert set(one.files) >= {"v", "w", "shrunk", "numbers"}
        assert all(one[name].tobytes() == other[name].tobytes() for name in other.files)


def test_the_state_of_another_run_is_refused(tmp_path):
    X, y = text_like(rows=600, columns=100)
    disk = Problem(on_disk(X), y, "hinge")
    solver = BlockDualCD(resume=str(tmp_path / "run"))
    solve(disk, solver, tol=1e-9, max_iter=3)
    for other, seed in ((disk.with_C(2.0), 0), (disk, 1), (Problem(disk.X, -y, "hinge"), 0)):
        with pytest.raises(ValueError, match="state of another run"):
            solve(other, solver, tol=1e-9, seed=seed)
    (tmp_path / "run").write_bytes(b"no state")
    with pytest.raises(ValueError, match="this is not the state of a run"):
        solve(disk, solver, tol=1e-9)
