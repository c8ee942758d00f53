"""The nets that ship: weights/manifest.toml read, a net found by name or file, and what `keisei nets` prints.

The weights lie in the repository's `weights/` and are installed as the package `engine._weights`. No torch here:
listing nets reads no net.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import EngineError, WeightsError

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

    Raises: WeightsError naming the nearest shipped net where there is neither.
    """
    if name is not None and os.path.isfile(name):  # never raises, whatever the name
        return Path(name)
    if name is not None and (Path(name).suffix or "/" in name or "\\" in name):
        raise WeightsError(f"{name}: no such file")
    entries = read_manifest()
    if name is None:
        if not entries:
            raise WeightsError("no net ships with this installation: give a file with --net")
        return entries[0].path
    for entry in entries:
        if entry.name == name:
            return entry.path
    near = difflib.get_close_matches(name, [e.name for e in entries], 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise WeightsError(f"{name}: neither a file nor a shipped net{hint}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei nets list|info`. Returns the exit status; errors go to the caller as EngineError."""
    parser = argparse.ArgumentParser(prog="keisei nets", description="List the shipped nets, or describe a net file.")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="the nets that ship with Keisei")
    info = commands.add_parser("info", help="what a net file holds")
    info.add_argument("net", nargs="?", help="a file or the name of a shipped net (default: the net that plays)")
    for command in (listing, info):
        command.add_argument("--json", action="store_true", help="print one JSON object a line")
    options = parser.parse_args(argv)
    return _list(options.json) if options.command == "list" else _info(options.net, options.json)


def _list(as_json: bool) -> int:
    for i, entry in enumerate(read_manifest()):
        if as_json:
            print(json.dumps({**asdict(entry), "path": str(entry.path)}, sort_keys=True))
            continue
        print(f"{entry.name}{'' if i else ' (default)'}: {entry.path.name}, {entry.encoding}")
        for key, value in entry.about.items():
            print(f"    {key}: {value}")
    return 0


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
