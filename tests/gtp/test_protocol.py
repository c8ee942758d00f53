"""The text layer: what a line means, what a reply looks like, byte for byte."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.gtp.protocol import Request, format_reply, parse
from engine.lines import MAX_LINE, LineBuffer


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"name", ("", "name", ())),
        (b"name\r", ("", "name", ())),
        (b"  name  ", ("", "name", ())),
        (b"5 name", ("5", "name", ())),
        (b"0 name", ("0", "name", ())),
        (b"2147483648 name", ("2147483648", "name", ())),
        (b"007 name", ("007", "name", ())),
        (b"5  lz-genmove_analyze w 10", ("5", "lz-genmove_analyze", ("w", "10"))),
        (b"play\tb\td4", ("", "play", ("b", "d4"))),
        (b"play b d4 # the star point", ("", "play", ("b", "d4"))),
        (b"pl\x00ay b\x07 d4\x7f", ("", "play", ("b", "d4"))),
        (b"\xef\xbb\xbfname", ("", "name", ())),
        (b"12", ("12", "", ())),
        (b"-1 name", ("", "-1", ("name",))),
        (b"1x name", ("", "1x", ("name",))),
        ("٣ name".encode(), ("", "٣", ("name",))),
        (b"\xff\xfe", ("", "��", ())),
    ],
)
def test_requests(line, expected):
    request = parse(line)
    assert request is not None and (request.id, request.name, request.args) == expected


@pytest.mark.parametrize("line", [b"", b"\r", b"   ", b"\t", b"#", b"# interrupt", b"  # x\r", b"\x00\x01"])
def test_lines_without_a_reply(line):
    assert parse(line) is None


def test_rest_keeps_what_json_and_file_names_need():
    assert parse(b'3 kata-set-rules {"ko":  "SIMPLE"} ').rest == '{"ko":  "SIMPLE"}'
    assert parse(b"loadsgf /a b/c.sgf 12").rest == "/a b/c.sgf 12"


@pytest.mark.parametrize(
    ("number", "text", "ok", "expected"),
    [
        ("", "", True, "= \n\n"),
        ("3", "", True, "=3 \n\n"),
        ("7", "D4", True, "=7 D4\n\n"),
        ("12", "unknown command", False, "?12 unknown command\n\n"),
        ("", "a\nb", True, "= a\nb\n\n"),
        ("", "a\n\n\nb\n\n", True, "= a\nb\n\n"),
        ("", "\n A B\n 1 2", True, "= \n A B\n 1 2\n\n"),
        ("", "a\r\nb", True, "= a\nb\n\n"),
        ("", "a\n \nb", True, "= a\nb\n\n"),
    ],
)
def test_replies(number, text, ok, expected):
    assert format_reply(number, text, ok=ok) == expected


@given(st.binary(max_size=200))
def test_any_line_parses(line):
    request = parse(line)
    assert request is None or isinstance(request, Request)
    if request is not None:
        assert request.id.isascii()
        assert not re.search(r"[\x00-\x1f\x7f]", request.name + request.rest)


@given(st.text(max_size=200), st.booleans(), st.from_regex(r"[0-9]{0,9}", fullmatch=True))
def test_any_reply_has_one_empty_line_at_its_end(text, ok, number):
    reply = format_reply(number, text, ok=ok)
    assert reply[0] == ("=" if ok else "?")
    assert reply.endswith("\n\n") and "\n\n" not in reply[:-2] and not reply.endswith("\n\n\n")


@given(st.binary(max_size=300), st.lists(st.integers(min_value=1, max_value=20), max_size=50))
def test_lines_do_not_depend_on_how_they_arrive(data, sizes):
    whole = LineBuffer().feed(data)
    pieces, buffer, start = [], LineBuffer(), 0
    for size in sizes:
        pieces += buffer.feed(data[start : start + size])
        start += size
    pieces += buffer.feed(data[start:])
    assert pieces == whole == data.split(b"\n")[:-1]


def test_overlong_lines_are_cut_not_kept():
    buffer = LineBuffer()
    assert buffer.feed(b"x" * (3 * MAX_LINE)) == []
    (line,) = buffer.feed(b"y" * MAX_LINE + b"\n")
    assert len(line) == MAX_LINE + 1
    assert buffer.feed(b"name\n") == [b"name"]
