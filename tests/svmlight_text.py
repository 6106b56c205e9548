"""What the tests of LIBSVM text share."""

import io

import pytest

from widemargin.data.svmlight import read_svmlight, write_svmlight


def read(content, **options):
    return read_svmlight(io.BytesIO(content), **options)


def written(X, y, **options):
    file = io.BytesIO()
    write_svmlight(file, X, y, **options)
    return file.getvalue()


def identical(A, B):
    """The same matrix, bit for bit."""
    assert A.shape == B.shape
    for name in ("data", "indices", "indptr"):
        left, right = getattr(A, name), getattr(B, name)
        assert left.dtype == right.dtype
        assert left.tobytes() == right.tobytes()


def refusal(content, **options):
    with pytest.raises(ValueError) as caught:
        read(content, **options)
    return str(caught.value)
