"""Every `cdef` function says what happens on an error: `noexcept`, or a value after `except`.

A bare `void` with Cython's default error mode takes the GIL after each call. Functions that return a Python object need
no word: NULL is their error.
"""

import re
from pathlib import Path

import engine

SOURCES = sorted(path for path in Path(engine.__file__).parent.rglob("*") if path.suffix in (".pyx", ".pxd"))
OBJECTS = {"object", "str", "bytes", "list", "tuple", "dict", "set"}
FUNCTION = re.compile(
    r"^[ \t]*c(?:p)?def[ \t]+(?!class\b|enum\b|struct\b|extern\b|packed\b)(?P<type>[^(=\n]*?)\b(?P<name>\w+)[ \t]*"
    r"\((?P<args>[^()]*(?:\([^()]*\)[^()]*)*)\)(?P<tail>[^\n]*)",
    re.MULTILINE,
)


def functions(text):
    """Yield (line number, return type, name, what follows the arguments) of every cdef and cpdef function."""
    for match in FUNCTION.finditer(re.sub(r"#[^\n]*", "", text)):
        tail = match["tail"].split(":")[0]
        if "=" in tail.replace("==", ""):
            continue
        yield text.count("\n", 0, match.start()) + 1, match["type"].replace("inline", "").strip(), match["name"], tail


def without_error_mode(text):
    classes = set(re.findall(r"cdef class (\w+)", text))
    return [
        (line, name)
        for line, kind, name, tail in functions(text)
        if kind not in OBJECTS | classes | {""} and not re.search(r"\bnoexcept\b|\bexcept\b", tail)
    ]


def test_every_cdef_function_states_its_error_mode():
    wrong = [
        f"{path.name}:{line}: {name}"
        for path in SOURCES
        for line, name in without_error_mode(path.read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_there_are_functions_to_look_at():
    assert sum(len(list(functions(path.read_text(encoding="utf-8")))) for path in SOURCES) > 50


def test_the_rule_finds_what_it_should():
    text = """
cdef class Thing:
    cdef int size
    cdef int good(self) except -1
    cdef void bad(self, int a)
    cdef str text(self, int a)
cdef inline int inner(int a, int b) nogil:
    cdef int* x = <int*>calloc(1, 2)
cdef void fine(
    const int* a, int b) noexcept nogil
cdef unsigned int worse(
    int a,
    int b,
) nogil:
cdef Thing make():
cdef enum:
    A = 1
"""
    assert [name for _, name in without_error_mode(text)] == ["bad", "inner", "worse"]
