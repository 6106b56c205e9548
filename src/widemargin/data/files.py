"""Whole files as bytes, whatever their compression, and files that appear complete or not at all."""

import contextlib
import importlib
import mmap
import os
import sys
from collections.abc import Iterator
from typing import IO, Any, BinaryIO, TypeAlias

Source: TypeAlias = str | os.PathLike[str] | BinaryIO
Bytes: TypeAlias = bytes | mmap.mmap

# The first bytes of a compressed file, and the module of the standard library that undoes it.
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
_SUFFIXES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


def is_stream(source: Source) -> bool:
    """Whether `source` is an open file rather than a path."""
    return hasattr(source, "read") or hasattr(source, "write")


def read_whole(source: Source) -> tuple[str, Bytes]:
    """Return the name of a file for messages, and its bytes: mapped if possible, decompressed if need be.

    >>> import io
    >>> read_whole(io.BytesIO(b"1 1:0.5"))
    ('<stream>', b'1 1:0.5')
    """
    name, content = _read_stream(source) if is_stream(source) else _read_path(source)
    start = content[:8]
    for magic, module in _MAGIC.items():
        if start.startswith(magic):
            return name, _decompress(name, content, module)
    return name, content


def _read_stream(source: Any) -> tuple[str, bytes]:
    name = str(getattr(source, "name", "<stream>"))
    content = source.read()
    if not hasattr(content, "decode"):
        raise TypeError(f"{name}: expected a file opened in binary mode, read {type(content).__name__}")
    return name, bytes(content)


def _read_path(source: Any) -> tuple[str, Bytes]:
    path = os.fspath(source)
    if path == "-":
        return "<stdin>", sys.stdin.buffer.read()
    with open(path, "rb") as file:
        try:
            return path, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (ValueError, OSError):  # empty, or a pipe
            return path, file.read()


def _decompress(name: str, content: Bytes, module: str) -> bytes:
    library = importlib.import_module(module)
    errors = [EOFError, OSError, ValueError, getattr(library, "LZMAError", OSError)]
    errors.append(importlib.import_module("zlib").error)
    try:
        result: bytes = library.decompress(content)
    except tuple(errors) as error:
        raise ValueError(f"{name}: damaged {module} data: {error}") from error
    return result


@contextlib.contextmanager
def written_whole(target: Source) -> Iterator[IO[bytes]]:
    """Open `target` for writing; a path is compressed by suffix and replaced only once all is written.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(os.path.join(folder, "a.txt")) as file:
    ...         written = file.write(b"all or nothing")
    ...     os.listdir(folder)
    ['a.txt']
    """
    if is_stream(target):
        yield target  # type: ignore[misc]
        return
    path = os.fspath(target)  # type: ignore[arg-type]
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        # A device or a pipe is written to, never replaced; a directory is refused by `open`.
        with open(path, "wb") as file:
            yield file
        return
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")
    try:
        with open(temporary, "xb") as file, _compressed(file, os.path.splitext(name)[1]) as sink:
            yield sink
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise


def _compressed(file: IO[bytes], suffix: str) -> contextlib.AbstractContextManager[IO[bytes]]:
    if suffix not in _SUFFIXES:
        return contextlib.nullcontext(file)
    library = importlib.import_module(_SUFFIXES[suffix])
    if suffix == ".gz":  # no name and no time inside, so that equal data give equal files
        return library.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0)  # type: ignore[no-any-return]
    return library.open(file, "wb")  # type: ignore[no-any-return]
