"""Columns, templates and CRFsuite's attributes: what is read, and that errors say file and line."""

from __future__ import annotations

import gzip
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from widemargin.data.tagging.attributes import read_attributes, token_of
from widemargin.data.tagging.columns import read_columns
from widemargin.data.tagging.formats import AttributeLines, TemplateColumns, format_from
from widemargin.data.tagging.lines import line_blocks
from widemargin.data.tagging.template import parse_template, read_template

ROWS = [["the", "DT", "B"], ["big", "JJ", "I"], ["dog", "NN", "I"]]


def write(folder, text, name="a.txt"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_blocks_end_at_blank_lines_of_any_kind(tmp_path):
    path = write(tmp_path, "\n\n\ufeffx\na b\r\n \t\r\n\n c")
    assert [[line.number for line in block] for block in line_blocks(path)] == [[3, 4], [7]]


def test_a_mark_of_byte_order_is_passed_over_and_compression_undone(tmp_path):
    path = write(tmp_path, gzip.compress("\ufeffä b\n".encode()), "a.gz")
    assert [found.rows for found in read_columns(path)] == [[["ä", "b"]]]


def test_white_space_of_other_kinds_belongs_to_a_field(tmp_path):
    path = write(tmp_path, "a\u00a0b\tX\nc\u2028d  Y\n")
    assert [found.rows for found in read_columns(path)] == [[["a\u00a0b", "X"], ["c\u2028d", "Y"]]]


def test_a_line_of_another_width_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"a\.txt:4: 3 columns, the lines before have 2"):
        list(read_columns(write(tmp_path, "a b\n\nc d\ne f g\n")))


def test_text_that_is_not_utf_8_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"a\.txt:2:3: not UTF-8"):
        list(read_columns(write(tmp_path, b"a b\nc \xff\n")))


def test_damaged_compression_is_refused(tmp_path):
    path = write(tmp_path, gzip.compress(b"a b\n" * 1000)[:-9], "a.gz")
    with pytest.raises(ValueError, match="cannot be read to its end"):
        list(read_columns(path))


def naive(text, t):
    """An attribute as CRF++'s manual describes it, cell by cell."""
    import re

    def cell(found):
        place, column = t + int(found[1]), int(found[2])
        if place < 0:
            return f"_B{place}"
        return ROWS[place][column] if place < len(ROWS) else f"_B+{place - len(ROWS) + 1}"

    return re.sub(r"%x\[(-?\d+),(\d+)\]", cell, text)


@given(
    units=st.lists(
        st.lists(st.tuples(st.sampled_from(["", "/", "%", "ä:"]), st.integers(-4, 4), st.integers(0, 1)), max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_templates_against_the_manual(units):
    texts = [
        f"U{i}:" + "".join(f"{text}%x[{row},{column}]" for text, row, column in unit) for i, unit in enumerate(units)
    ]
    found = parse_template("# all\n\n" + "\r\n".join([*texts, "B"])).attributes(ROWS)
    assert found == [[naive(text, t) for text in texts] for t in range(len(ROWS))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("U0:%x[0]\nB", r"t:1: read '%x\[0\]', expected %x\[row,column\]"),
        ("U0:%x[0,-1]\nB", "t:1: read"),
        ("U0:%x[0,0]\nX", "t:2: read 'X': lines of a template begin with U, B or #"),
        ("U0:%x[0,0]\nB01:%x[0,0]", r"t:2: weights of .*: write B alone .*U01:%x\[0,0\]"),
        ("B", "t: no line U"),
        ("U0:%x[0,0]", "t: no line B"),
        ("", "t: no line U"),
    ],
)
def test_templates_that_are_wrong(text, said):
    with pytest.raises(ValueError, match=said):
        parse_template(text, "t")


def test_a_template_from_a_file_tells_its_name(tmp_path):
    with pytest.raises(ValueError, match=r"a\.txt:2: read"):
        read_template(write(tmp_path, "U0:%x[0,0]\n%x[0,0]\n"))


def test_attributes_with_values_and_escapes(tmp_path):
    path = write(tmp_path, "A\tw=x\tn:2.5\ta\\:b:3\tc\\\\\t\tw=x\n\nB\n")
    found = list(read_attributes(path))
    assert found[0].tokens == [{"w=x": 2.0, "n": 2.5, "a:b": 3.0, "c\\": 1.0}]
    assert found[1].labels == ["B"] and found[1].tokens == [{}]


@pytest.mark.parametrize("value", ["", "x", "nan", "inf", "1:2"])
def test_values_that_are_no_finite_numbers_are_refused(value):
    with pytest.raises(ValueError, match=r"a:7: attribute 'n' has the value .*written \\:"):
        token_of([f"n:{value}"], "a:7")


def test_training_needs_labels_and_weights_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"a\.txt:2: the label is missing"):
        list(AttributeLines().training(write(tmp_path, "A\tx\n\ty\n")))
    with pytest.raises(ValueError, match=r"a\.txt:1: weights of sequences"):
        list(read_attributes(write(tmp_path, "@weight:2\nA\tx\n")))


def test_columns_without_labels_are_recognised_by_their_number(tmp_path):
    files = TemplateColumns(parse_template("U0:%x[0,1]\nB"))
    path = write(tmp_path, "a b X\n")
    assert [found.labels for found in files.training(path)] == [["X"]]
    files = format_from(files.facts())
    assert [found.labels for found in files.sequences(path)] == [["X"]]
    found = next(files.sequences(write(tmp_path, "a b\n")))
    assert found.labels is None and found.tokens == [["U0:b"]]
    with pytest.raises(ValueError, match=r"a\.txt:2: 4 columns, the model was trained on 3"):
        list(files.sequences(write(tmp_path, "\na b c d\n")))


def test_a_template_that_reads_the_labels_is_refused(tmp_path):
    files = TemplateColumns(parse_template("U0:%x[0,2]\nB"))
    with pytest.raises(ValueError, match=r"a\.txt:1: the template reads column 2, the file has 2"):
        list(files.training(write(tmp_path, "a b X\n")))


@pytest.mark.parametrize(
    "facts",
    [None, {}, {"format": "other"}, {"format": "columns"}, {"format": "columns", "template": "X", "columns": 3},
     {"format": "columns", "template": "U0:%x[0,2]\nB", "columns": 3},
     {"format": "columns", "template": "U0:%x[0,0]\nB", "columns": None}],
)  # fmt: skip
def test_facts_that_are_malformed_are_refused(facts):
    with pytest.raises(ValueError, match=r"unknown format|malformed"):
        format_from(facts)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    content=st.one_of(
        st.binary(max_size=60),
        st.text(alphabet="aB%x[0,1]-+\\: \t\r\n\x00\x85", max_size=60).map(str.encode),
    )
)
def test_any_bytes_are_read_or_refused_with_a_message(tmp_path, content):
    path = write(tmp_path, content)
    assert all(said.startswith(path) for said in filter(None, map(partial(refusal, path), READERS)))


READERS = (
    lambda path: list(read_columns(path)),
    lambda path: list(read_attributes(path)),
    lambda path: list(AttributeLines().training(path)),
    lambda path: read_template(path).attributes(ROWS * 4),
)


def refusal(path, read):
    """What a reader says of a file that it cannot read; a template may ask for a column that is not there."""
    try:
        read(path)
    except ValueError as error:
        return str(error)
    except IndexError:
        assert read is READERS[-1] and read_template(path).n_columns > len(ROWS[0])
    return ""
