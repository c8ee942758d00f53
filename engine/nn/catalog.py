"""The nets that ship: weights/manifest.toml read, a net found by name or file, and what `keisei nets` prints.

The weights lie in the repository's `weights/` and are installed as the package `engine._weights`. No torch here:
listing nets reads no net.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..config import nearest
from ..errors import EngineError, WeightsError
from ..usage import Parser

MANIFEST = "manifest.toml"
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """One net of the manifest: a table [NAME] with file, sha256, encoding, maybe default = true; the rest is kept."""

    name: str
    path: Path
    sha256: str
    encoding: str
    default: bool = False
    about: dict[str, Any] = field(default_factory=dict)  # recipe, commit, measured strength, …


def weights_dir() -> Path:
    """Return the folder of shipped nets: the installed package's, else the source tree's. Raises WeightsError."""
    here = Path(__file__).resolve()
    candidates = [here.parents[1] / "_weights", here.parents[2] / "weights"]
    for folder in candidates:
        if (folder / MANIFEST).is_file():
            return folder
    raise WeightsError(f"no {MANIFEST} with the nets of this installation: give a file with --net")


def read_manifest(folder: Path | None = None) -> list[Entry]:
    """Return the shipped nets, the default one first (that with default = true, or else the manifest's first).

    Raises: WeightsError naming the manifest and what is wrong in it.
    """
    folder = folder or weights_dir()
    path = folder / MANIFEST
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        entries = [_entry(folder, name, dict(table)) for name, table in tables.items()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"{path}: {type(error).__name__}: {error}") from error
    return sorted(entries, key=lambda e: not e.default)


def _entry(folder: Path, name: str, table: dict[str, Any]) -> Entry:
    file, sha256, encoding = table.pop("file"), table.pop("sha256"), table.pop("encoding")
    if Path(file).name != file:
        raise ValueError(f"net {name}: the file must lie beside the manifest, not at {file!r}")
    if not _SHA256.match(sha256):
        raise ValueError(f"net {name}: sha256 is not 64 hexadecimal digits")
    return Entry(name, folder / file, sha256, encoding, bool(table.pop("default", False)), table)


def find(name: str | None) -> Path:
    """Return the file for `--net`: a path, the name of a shipped net, or the default net for None.

    Raises: WeightsError naming the shipped nets where there is neither.
    """
    if name is not None and os.path.isfile(name):  # never raises, whatever the name
        return Path(name)
    if name is not None and os.path.isdir(name):
        raise WeightsError(f"{name}: a folder, not a net file")
    if name is not None and (Path(name).suffix or "/" in name or "\\" in name):
        raise WeightsError(f"{name}: no such file")
    entries = read_manifest()
    if name is None and not entries:
        raise WeightsError("no net ships with this installation: give a file with --net")
    found = entries[0] if name is None else next((entry for entry in entries if entry.name == name), None)
    if found is None:
        names = [entry.name for entry in entries]
        shipped = f"shipped are {', '.join(names)}" if names else "none ships"
        raise WeightsError(f"{name}: neither a file nor a shipped net{nearest(str(name), names)}: {shipped}")
    if not found.path.is_file():
        raise WeightsError(f"{found.path}: the file of the shipped net {found.name} is missing")
    return found.path


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei nets list|info`. Returns the exit status; errors go to the caller as EngineError."""
    parser = Parser(prog="keisei nets", description="List the shipped nets, or describe a net file.")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="the nets that ship with Keisei")
    info = commands.add_parser("info", help="what a net file holds")
    info.add_argument("net", nargs="?", help="a file or the name of a shipped net (default: the net that plays)")
    for command in (listing, info):
        command.add_argument("--json", action="store_true", help="print one JSON object a line")
    options = parser.parse_args(argv)
    return _list(options.json) if options.command == "list" else _info(options.net, options.json)


def _list(as_json: bool) -> int:
    entries = read_manifest()
    if as_json:
        for entry in entries:
            print(json.dumps({**asdict(entry), "path": str(entry.path)}, sort_keys=True))
        return 0
    rows: list[tuple[str, ...]] = [("name", "weights", "MB", "square boards", "encoding", "use")]
    rows += [_row(entry, plays=not number) for number, entry in enumerate(entries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.rjust(width) if i in (1, 2) else cell.ljust(width) for i, (cell, width) in
                 enumerate(zip(row, widths, strict=True)))  # fmt: skip
        print("  ".join(cells).rstrip())
    for entry in entries:
        if isinstance(entry.about.get("measured"), dict):
            print(f"\n{entry.name}, measured:")
            for what, figure in entry.about["measured"].items():
                print(f"  {what}: {str(figure).split(': keisei ')[0]}")
    print("\nmore of a net: keisei nets info NAME; for programs: keisei nets list --json")
    return 0


def _row(entry: Entry, *, plays: bool) -> tuple[str, ...]:
    """Return a net's line of the table: the cells of what is known of it."""
    about = entry.about
    size = f"{about['bytes'] / 1e6:.1f}" if isinstance(about.get("bytes"), int) else ""
    weights = f"{about['parameters']:,}".replace(",", " ") if isinstance(about.get("parameters"), int) else ""
    use = "plays, if no other is named" if plays else str(about.get("about", "")).split(";")[0]
    return entry.name, weights, size, boards(about.get("sizes")), entry.encoding, use


def boards(sizes: Any) -> str:
    """Return board sizes [[width, height], …] in short: "7-19", or "9, 13, 19"; others than squares in full."""
    try:
        pairs = sorted((int(width), int(height)) for width, height in sizes or ())
    except (TypeError, ValueError):
        return ""
    sides = [width for width, height in pairs if width == height]
    if len(sides) > 2 and sides == list(range(sides[0], sides[-1] + 1)):
        found = [f"{sides[0]}-{sides[-1]}"]
    else:
        found = [str(side) for side in sides]
    return ", ".join(found + [f"{width}x{height}" for width, height in pairs if width != height])


def _info(name: str | None, as_json: bool) -> int:
    from .net import load_net

    path = find(name)
    description = load_net(path).description
    shipped = _shipped(path)
    if shipped is not None and shipped.sha256 != description.sha256:
        raise WeightsError(f"{path}: its SHA-256 is {description.sha256}, the manifest says {shipped.sha256}")
    if as_json:
        print(json.dumps(asdict(description), sort_keys=True))
        return 0
    sizes = ", ".join(f"{w}x{h}" for w, h in description.sizes) or "not said"
    print(f"name        {description.name}")
    print(f"file        {description.file} ({description.bytes / 1e6:.1f} MB)")
    print(f"format      {description.format}, version {description.version}")
    print(f"encoding    {description.encoding}")
    print(f"parameters  {description.parameters} ({description.blocks} blocks, {description.channels} channels)")
    print(f"trained on  {sizes}")
    print(f"sha256      {description.sha256}")
    for key in sorted(set(description.metadata) - {"name", "sizes"}):
        value = description.metadata[key]
        print(f"{key:<11} {value if isinstance(value, str | int | float) else json.dumps(value)}")
    return 0


def _shipped(path: Path) -> Entry | None:
    try:
        entries = read_manifest()
    except EngineError:
        return None
    return next((e for e in entries if e.path.exists() and e.path.samefile(path)), None)
