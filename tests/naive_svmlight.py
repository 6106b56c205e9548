"""LIBSVM text read the slow and obvious way: the oracle of the tests of the native parser."""

import math
import re

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
QUERY = re.compile(r"qid:(-?\d+)", re.ASCII)
ENTRY = re.compile(r"(\d+):(.*)", re.ASCII | re.DOTALL)
LARGEST_INDEX = 2**31 - 2


class Wrong(Exception):
    """Carries the line and column of what is wrong."""


def number(token, where):
    if not NUMBER.fullmatch(token) or math.isinf(float(token)):
        raise Wrong(where)
    return float(token)


def tokens(line):
    """The tokens of a line, each with its column."""
    line = line.split("#")[0]
    return [(match.group(), match.start() + 1) for match in re.finditer(r"[^ \t\r]+", line)]


def labels_of(row, multilabel, where):
    token, column = row[0]
    if multilabel and ":" in token:
        return ()
    del row[0]
    if not multilabel:
        return number(token, (where, column))
    result = []
    for part in token.split(","):
        result.append(number(part, (where, column)))
        column += len(part) + 1
    return tuple(result)


def query_of(row, where, line):
    if row and row[0][0].startswith("qid:"):
        token, column = row.pop(0)
        match = QUERY.fullmatch(token)
        if not match or not -(2**63) <= int(match.group(1)) < 2**63:
            raise Wrong((where, column))
        return int(match.group(1))
    return None


def entries_of(row, where):
    entries = []
    for token, column in row:
        match = ENTRY.fullmatch(token)
        if not match or int(match.group(1)) > LARGEST_INDEX:
            raise Wrong((where, column))
        value = number(match.group(2), (where, column + len(match.group(1)) + 1))
        entries.append((int(match.group(1)), value, column))
    seen = set()
    for index, _, column in entries:
        if index in seen:
            raise Wrong((where, column))
        seen.add(index)
    return sorted((index, value) for index, value, _ in entries)


def parse(content, multilabel=False):
    """Rows as (labels, qid or None, [(index, value), ...]), indices as they stand in the text."""
    rows = []
    for where, line in enumerate(content.decode("latin-1").split("\n"), 1):
        row = tokens(line)
        if row:
            labels = labels_of(row, multilabel, where)
            rows.append((labels, query_of(row, where, line), entries_of(row, where)))
    return rows
