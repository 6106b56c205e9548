"""The corpus: the source lines of Python's own standard library, on this machine.

The task is to tell from a single line whether its file is about networks or about Python itself. The two sides are
chapters of the library's reference; other packages are left aside. The tests of a package, where they are installed,
count as the package: `test/test_ssl.py` is about ssl. Every distinct line counts once, and a file is either a training
file or a test file, so no line and no file is on both sides.
"""

from __future__ import annotations

import os
import random
import re
import sysconfig
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SIDES = ("network", "python")

# Networking, internet data, markup and internet protocols.
NETWORK = """
    asynchat asyncio asyncore base64 binascii cgi cgitb concurrent email ftplib html http imaplib ipaddress json mailbox
    mailcap mimetypes multiprocessing nntplib poplib quopri select selectors smtpd smtplib socket socketserver ssl
    telnetlib urllib uuid webbrowser wsgiref xml xmlrpc
"""
# Language services, runtime services, importing, development tools, packaging, debugging.
PYTHON = """
    _pyrepl abc annotationlib ast bdb code codeop compileall contextlib cProfile dataclasses dis distutils doctest
    ensurepip enum faulthandler functools gc idlelib importlib inspect keyword lib2to3 modulefinder opcode pdb
    pickletools pkgutil profile pstats py_compile pyclbr pydoc reprlib runpy site symtable sysconfig tabnanny timeit
    token tokenize trace traceback tracemalloc types typing unittest venv warnings zipapp zipimport
"""
SIDE_OF = {package: side for side, names in zip(SIDES, (NETWORK, PYTHON), strict=True) for package in names.split()}

LEFT_OUT = frozenset({"site-packages", "dist-packages", "__pycache__", "lib-dynload"})
SHORTEST_LINE = 12  # characters: below, a line is a bracket or a `return`
FEWEST_FILES = 20
ONE_TEST_FILE_IN = 5


@dataclass(frozen=True)
class SourceFile:
    """A file of the standard library."""

    path: Path
    name: str  # relative to the library
    package: str

    @property
    def scramble(self) -> int:
        """A number that depends on the name alone: the same order and the same split on every machine."""
        return zlib.crc32(self.name.encode())

    @property
    def is_test(self) -> bool:
        """Whether the file is kept for testing."""
        return self.scramble % ONE_TEST_FILE_IN == 0


@dataclass(frozen=True)
class Lines:
    """Distinct lines with the side and the file each belongs to."""

    text: list[bytes]
    side: list[str]
    file: list[int]  # a number for each file, from 0
    n_files: int

    def __len__(self) -> int:
        return len(self.text)


def standard_library() -> Path:
    """Where the standard library of this Python lies."""
    return Path(sysconfig.get_path("stdlib"))


def find_files(root: Path) -> list[SourceFile]:
    """The files of both sides, in scrambled order."""
    names = sorted(_python_files(root))
    packages = {name.split("/")[0].removesuffix(".py") for name in names}
    found = [SourceFile(root / name, name, _package_of(name, packages)) for name in names]
    chosen = sorted((file for file in found if file.package in SIDE_OF), key=lambda file: file.scramble)
    if len(chosen) < FEWEST_FILES:
        raise ValueError(
            f"{root} holds {len(chosen)} usable source files of the standard library, at least {FEWEST_FILES} are "
            "needed: this Python keeps its library in a zip file or without sources, try the demo with another one"
        )
    return chosen


def read_lines(files: Iterable[SourceFile], most: int | None = None, seed: int = 0) -> tuple[Lines, Lines]:
    """The distinct lines of the training files and of the test files; at most `most` of them, drawn at random."""
    seen: set[bytes] = set()
    taken: list[tuple[bytes, SourceFile]] = []
    for file in files:
        new = [line for line in _usable_lines(file.path) if line not in seen]
        fresh = list(dict.fromkeys(new))
        seen.update(fresh)
        taken.extend((line, file) for line in fresh)
    if most is not None and most < len(taken):
        taken = random.Random(seed).sample(taken, most)
    train, test = (_as_lines(pair for pair in taken if pair[1].is_test is side) for side in (False, True))
    for part, what in ((train, "training"), (test, "test")):
        if len(set(part.side)) < 2:
            raise ValueError(f"the {what} lines are all of one side: allow more lines")
    return train, test


def _python_files(root: Path) -> Iterator[str]:
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if name not in LEFT_OUT]
        inside = Path(folder).relative_to(root)
        yield from ((inside / name).as_posix() for name in names if name.endswith(".py"))


def _package_of(name: str, packages: set[str]) -> str:
    """The top-level package a file is about; for a test, the package whose name its own name begins with."""
    parts = name.removesuffix(".py").split("/")
    if parts[0] != "test":
        return parts[0]
    for part in parts[1:]:
        subject = re.sub(r"^(test_*)", "", part)
        about = [package for package in packages if subject.startswith(package)] if subject != part else []
        if about:
            return max(about, key=len)
    return "test"


def _usable_lines(path: Path) -> Iterator[bytes]:
    try:
        content = path.read_bytes()
    except OSError:
        return  # a file that may not be read is a file less
    for line in content.splitlines():
        line = line.strip()
        if len(line) >= SHORTEST_LINE:
            yield line


def _as_lines(taken: Iterable[tuple[bytes, SourceFile]]) -> Lines:
    pairs = list(taken)
    number = {name: i for i, name in enumerate(dict.fromkeys(file.name for _, file in pairs))}
    return Lines(
        [line for line, _ in pairs],
        [SIDE_OF[file.package] for _, file in pairs],
        [number[file.name] for _, file in pairs],
        len(number),
    )
