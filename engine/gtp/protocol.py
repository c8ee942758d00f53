"""The text layer of GTP: bytes to requests, replies to bytes. Knows no commands and no game.

A request is one line: an optional decimal id, a command, arguments. Everything here is total: any bytes give a request
or nothing, any text gives one well-formed reply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SPACE_LIKE = {ord("\t"): " "}
_DROPPED = {code: None for code in (*range(0x00, 0x20), *range(0x7F, 0xA0), 0xFEFF, 0x2028, 0x2029) if code != 9}
_CLEAN = {**_DROPPED, **_SPACE_LIKE}
_ID = re.compile(r"[0-9]+", re.ASCII)


class GtpError(Exception):
    """A refusal with its canonical one-line text, sent as "? text"."""


SYNTAX_ERROR = "syntax error"
UNKNOWN_COMMAND = "unknown command"


@dataclass(frozen=True, slots=True)
class Request:
    """One command line."""

    id: str  # decimal digits as they were sent, or empty
    name: str  # the command word; empty if the line holds an id alone
    args: tuple[str, ...]
    rest: str = ""  # everything behind the command word, single-spaced at the ends only (for JSON and file names)


def parse(line: bytes) -> Request | None:
    """Parse one line without its LF. Return None if nothing is left of it: such a line gets no reply.

    CR and other control bytes are dropped, a tab is a space, "#" starts a comment, bytes that are no UTF-8 become
    replacement characters.
    """
    text = line.decode("utf-8", errors="replace").translate(_CLEAN)
    text = text.partition("#")[0].strip(" ")
    if not text:
        return None
    first, _, rest = text.partition(" ")
    number = ""
    if _ID.fullmatch(first):
        number = first
        first, _, rest = rest.lstrip(" ").partition(" ")
    rest = rest.strip(" ")
    return Request(number, first, tuple(word for word in rest.split(" ") if word), rest)


def is_interrupt(line: bytes) -> bool:
    """Tell whether a line is GoGui's special comment that ends the running command early."""
    return line.strip() == b"# interrupt"


def header(number: str, *, ok: bool = True) -> str:
    """Return the start of a reply: "=", "?", and the id."""
    return f"{'=' if ok else '?'}{number}"


def format_reply(number: str, text: str, *, ok: bool = True) -> str:
    """Return the whole reply. The body has no blank line inside and none at its end, whatever `text` holds."""
    lines = text.replace("\r", "").split("\n")
    body = [lines[0].rstrip(), *(line for line in lines[1:] if line.strip())]
    return f"{header(number, ok=ok)} " + "\n".join(body) + "\n\n"
