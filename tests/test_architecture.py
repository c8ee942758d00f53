"""The import layers of docs/architecture.md, read off every import and cimport line of the engine.

import-linter cannot see into Cython, so this reads the files itself: Python by its syntax tree, Cython line by line.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import child
import pytest

import engine

ROOT = Path(engine.__file__).parent
LAYER_0 = {f"engine.{name}" for name in ("errors", "usage", "files", "lines", "config", "evaluator", "evaluator_fakes")}
BOARD = {*LAYER_0, "engine.board"}
JUDGE = {*BOARD, "engine.search", "engine.judge"}
PLAYER = {*JUDGE, "engine.sgf", "engine.player"}
ENGINE = {*PLAYER, "engine.nn", "engine.gtp", "engine.analysis", "engine.factory", "engine.cli", "engine.__main__"}
APPS = {"engine.match", "engine.train", "engine.evaluate", "engine.bench", "engine.judging"}
# What each unit may import of the engine, besides itself and the version in `engine`.
ALLOWED = {
    **dict.fromkeys(LAYER_0, LAYER_0),
    "engine.board": BOARD,
    "engine.search": BOARD,
    "engine.nn": BOARD,
    "engine.sgf": BOARD,
    "engine.judge": JUDGE,
    "engine.player": PLAYER,
    "engine.gtp": PLAYER,
    "engine.analysis": PLAYER,
    "engine.factory": ENGINE,
    "engine.cli": ENGINE,
    "engine.__main__": ENGINE,
    "engine.match": ENGINE,
    "engine.train": {*ENGINE, "engine.match"},
    "engine.evaluate": {*ENGINE, "engine.match", "engine.train"},
    "engine.bench": ENGINE,
    "engine.judging": {*ENGINE, "engine.match"},
    "engine": set(),
}
COMMAND_LINE = {"engine.cli", "engine.__main__"}  # may start an app, by an import inside a function
TORCH = {"engine.nn", "engine.train"}
PURE = {*LAYER_0, "engine.board", "engine.search"}  # standard library and numpy only
STANDARD = set(sys.stdlib_module_names) | {"numpy", "libc", "cython", "cpython", "posix"}
CYTHON = re.compile(r"^\s*(?:from\s+(?P<source>[.\w]+)\s+c?import\b|c?import\s+(?P<modules>[\w., ]+))", re.MULTILINE)


def module_of(path, root):
    parts = ["engine", *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit_of(module):
    """The row of the table that a module belongs to, None outside the engine."""
    parts = module.split(".")
    if parts[0] != "engine":
        return None
    name = ".".join(parts[:2])
    return name if name in ALLOWED else "engine" if len(parts) == 1 else name


def absolute(source, module, is_package):
    """The absolute name of `from source import …` as written in a module."""
    dots = len(source) - len(source.lstrip("."))
    if dots == 0:
        return source
    package = module.split(".") if is_package else module.split(".")[:-1]
    package = package[: len(package) - (dots - 1)]
    return ".".join([*package, source[dots:]]).rstrip(".")


def python_imports(text, module, is_package):
    """Yield (imported name, whether inside a function)."""
    tree = ast.parse(text)
    inner = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in inner
        elif isinstance(node, ast.ImportFrom):
            source = absolute("." * node.level + (node.module or ""), module, is_package)
            for alias in node.names:
                # `from engine import errors` names engine.errors
                yield (f"{source}.{alias.name}" if source == "engine" else source), id(node) in inner


def cython_imports(text, module, is_package):
    text = re.sub(r'"""(.|\n)*?"""', "", text)
    for match in CYTHON.finditer(text):
        if match["source"]:
            yield absolute(match["source"], module, is_package), False
        else:
            for name in match["modules"].split(","):
                yield name.split(" as ")[0].strip(), False


def breaches(root=ROOT):
    found = []
    for path in sorted(root.rglob("*")):
        if path.suffix not in (".py", ".pyi", ".pyx", ".pxd"):
            continue
        module = module_of(path, root)
        reader = python_imports if path.suffix in (".py", ".pyi") else cython_imports
        for name, inside in reader(path.read_text(encoding="utf-8"), module, path.stem == "__init__"):
            reason = breach(unit_of(module), name, inside, path.suffix)
            if reason:
                found.append(f"{path.relative_to(root)}: imports {name}: {reason}")
    return found


def breach(unit, name, inside, suffix):
    top = name.split(".")[0]
    target = unit_of(name)
    if unit not in ALLOWED:
        return f"{unit} is not in the table"
    if target is None:
        if top == "torch" and unit not in TORCH:
            return "torch belongs to engine.nn and engine.train"
        if suffix == ".pxd" and unit == "engine.board" and top != "libc":
            return "a .pxd of the board may name only libc and its own"
        if unit in PURE and top not in STANDARD:
            return "only the standard library and numpy"
        return None
    if target in (unit, "engine") or name == "engine.__version__" or target in ALLOWED[unit]:
        return None
    if target in APPS and unit in COMMAND_LINE and inside:
        return None
    return f"{unit} may not import {target}"


def test_the_layers_hold():
    assert breaches() == []


def test_the_table_of_the_docs_names_the_same_packages():
    page = Path(__file__).parents[1] / "docs" / "architecture.md"
    table = page.read_text(encoding="utf-8").split("## Words")[0]
    named = {name for name in re.findall(r"`(engine(?:\.\w+)+)`", table)}
    assert named - {"engine"} <= set(ALLOWED)
    assert set(ALLOWED) - named - {"engine"} == set()


@pytest.mark.parametrize(("file", "line", "fault"), [
    ("board/go.pyx", "from ..search.tree cimport Tree", True),
    ("board/go.pyx", "from engine.errors import IllegalMove", False),
    ("board/go.pxd", "from numpy cimport ndarray", True),
    ("board/go.pxd", "from libc.stdint cimport int16_t", False),
    ("board/go.pyx", "cimport torch", True),
    ("search/root.py", "from engine.nn import load_net", True),
    ("search/root.py", "from ..board.rules import Rules", False),
    ("gtp/session.py", "from engine import factory", True),
    ("gtp/session.py", "import engine.player", False),
    ("gtp/session.py", "def f():\n    import torch", True),
    ("cli.py", "def f():\n    from engine.match import play", False),
    ("cli.py", "from engine.match import play", True),
    ("match/play.py", "import engine.train", True),
    ("train/train.py", "import engine.match", False),
    ("unknown.py", "import engine.errors", True),
])
def test_the_reader_sees_breaches(tmp_path, file, line, fault):
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line + "\n", encoding="utf-8")
    assert bool(breaches(tmp_path)) is fault


def test_gtp_imports_without_torch():
    names = [module_of(path, ROOT) for path in sorted((ROOT / "gtp").rglob("*.py"))]
    code = f"import sys\nfor name in {names!r}: __import__(name)\nassert 'torch' not in sys.modules"
    command, environment = child.python("-c", code)
    subprocess.run(command, env=environment, check=True, timeout=60)
