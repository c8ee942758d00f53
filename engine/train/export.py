"""`keisei export`: a trained net into weights/, with its line in the manifest.

The manifest (`weights/manifest.toml`) says of every shipped net: file, sha256, encoding, sizes, recipe, commit and the
figures that were measured, each with the command that measures it. Without --weights the folder is that of a clone of
the repository: `weights` here, or the one beside the package. A net plays without all this: `keisei gtp --net FILE`.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError, WeightsError
from engine.nn import catalog
from engine.usage import Parser

if TYPE_CHECKING:
    from torch import nn

log = logging.getLogger(__name__)

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\Z")  # what is found again by `--net NAME`: no file's name
OWN_KEYS = ("name", "file", "sha256", "bytes", "encoding", "parameters", "default", "measured")
HEAD = "# The shipped nets. Written by `keisei export`; the meaning of the keys is in README.md.\n"


def write_net(net: nn.Module, path: Path, metadata: dict[str, Any]) -> None:
    """Write a trained net (in evaluation mode) as a safetensors file, norms folded, weights float32.

    Args:
        net: a module of engine.nn.policy_value.build_module.
        path: the file; replaced as a whole.
        metadata: what the file says of its making, JSON.
    """
    from engine.nn import checkpoint
    from engine.nn.policy_value import fold_for_export

    temporary = path.with_suffix(".part")
    checkpoint.save(temporary, net.spec, fold_for_export(net), metadata)  # type: ignore[arg-type]
    temporary.replace(path)


def sha256(path: Path) -> str:
    """Return the hash of a file, hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def toml_value(value: Any) -> str:
    """Write a value as TOML; dictionaries inline.

    Raises:
        ConfigError: TOML has no such value.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {toml_value(v)}" for k, v in value.items()) + " }"
    raise ConfigError(f"{value!r} cannot be written to TOML")


def toml_key(key: str) -> str:
    """Write a key as TOML, in quotes where it needs them."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest as a dictionary, name -> entry; empty if there is no file.

    Raises:
        WeightsError: it cannot be read, is no TOML, or holds something besides tables.
    """
    try:
        manifest = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path}: {error}") from error
    for name, entry in manifest.items():
        if not isinstance(entry, dict):
            raise WeightsError(f"{path}: {name} is no table of a net")
    return manifest


def manifest_text(manifest: dict[str, Any]) -> str:
    """Return the manifest as TOML: one table a net, `measured` as a table below it. Raises ConfigError."""
    text = HEAD
    for name, entry in manifest.items():
        plain = {key: value for key, value in entry.items() if not isinstance(value, dict)}
        text += f"\n[{json.dumps(name)}]\n"
        text += "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in plain.items())
        for key, table in entry.items():
            if isinstance(table, dict):
                text += f"\n[{json.dumps(name)}.{toml_key(key)}]\n"
                text += "".join(f"{json.dumps(k)} = {toml_value(v)}\n" for k, v in table.items())
    return text


def write_manifest(path: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest, whole or not at all."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(manifest_text(manifest), encoding="utf-8")
    os.replace(temporary, path)


def weights_folder(given: Path | None, source: Path) -> Path:
    """Return the folder that a net is exported to: the one given, or that of a clone of the repository.

    Raises:
        ConfigError: none is given, and there is no clone here.
    """
    if given is not None:
        return given
    here = Path("weights")
    for folder in (here, Path(__file__).resolve().parents[2] / "weights"):
        if (folder / catalog.MANIFEST).is_file():
            return folder
    raise ConfigError(
        f"there is no clone of the repository here (no {here / catalog.MANIFEST} in {Path.cwd()}): say --weights DIR; "
        f"the net plays without that: keisei gtp --net {source}"
    )


def how_to_play(folder: Path, entry: dict[str, Any], name: str) -> str:
    """Return the command that plays with an exported net: by name where this installation looks for it."""
    try:
        found = catalog.weights_dir().samefile(folder)
    except (OSError, WeightsError):
        found = False
    return f"keisei gtp --net {name if found else folder / entry['file']}"


def export(source: Path, weights: Path, name: str, *, note: dict[str, Any]) -> dict[str, Any]:
    """Write a net into the weights folder under its name, and its manifest entry; figures of the same file are kept.

    Args:
        source: a safetensors net.
        weights: the folder of the shipped nets.
        name: of the net; the file is named after it.
        note: further keys of the entry.

    Returns: the entry.

    Raises:
        WeightsError: the file is no net of ours, or the manifest is damaged.
    """
    from engine.nn import checkpoint

    try:
        spec, tensors, metadata = checkpoint.load(source)
    except WeightsError as error:
        raise WeightsError(f"{source}: {error if source.is_file() else 'no such file'}") from error
    manifest = read_manifest(weights / "manifest.toml")
    old = manifest.get(name, {})
    weights.mkdir(parents=True, exist_ok=True)
    target = weights / f"{name}.safetensors"
    temporary = target.with_suffix(".part")
    checkpoint.save(temporary, {**spec, "name": name}, tensors, {**metadata, "name": name})
    digest = sha256(temporary)
    entry = {
        "file": target.name,
        "sha256": digest,
        "bytes": temporary.stat().st_size,
        "encoding": spec["encoding"],
        "parameters": sum(t.numel() for t in tensors.values()),
        **{key: value for key, value in metadata.items() if key not in OWN_KEYS and value is not None},
        **note,
    }
    if old.get("default") is True:
        entry["default"] = True
    if old.get("sha256") == digest and "measured" in old:
        entry["measured"] = old["measured"]
    manifest[name] = entry
    manifest_text(manifest)  # what cannot be written is told before anything is replaced
    os.replace(temporary, target)
    write_manifest(weights / "manifest.toml", manifest)
    return entry


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei export`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei export", description=__doc__)
    parser.add_argument("net", type=Path, help="net.safetensors of a run")
    parser.add_argument("--name", required=True, help="name under which the net is shipped")
    parser.add_argument(
        "--weights", type=Path, metavar="DIR", help="folder to write to, made if absent; default: that of the clone"
    )
    parser.add_argument("--note", action="append", default=[], metavar="KEY=TEXT", help="a further line of the entry")
    parser.add_argument("--measured", action="append", default=[], metavar="KEY=TEXT", help="a measured figure")
    arguments = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    if not NAME.match(arguments.name):
        raise ConfigError(f"--name {arguments.name!r}: letters, digits, - and _ alone, so that --net finds it")
    note = dict(split_note(text) for text in arguments.note)
    if reserved := sorted(note.keys() & set(OWN_KEYS)):
        raise ConfigError(f"--note {reserved[0]}: the command itself writes that key")
    figures = dict(split_note(text) for text in arguments.measured)
    folder = weights_folder(arguments.weights, arguments.net)
    entry = export(arguments.net, folder, arguments.name, note=note)
    if figures:
        manifest = read_manifest(folder / "manifest.toml")
        manifest[arguments.name].setdefault("measured", {}).update(figures)
        write_manifest(folder / "manifest.toml", manifest)
    log.info("written: %s, %d bytes, sha256 %s", folder / entry["file"], entry["bytes"], entry["sha256"])
    log.info("its entry: [%s] in %s", arguments.name, folder / "manifest.toml")
    log.info("it plays: %s", how_to_play(folder, entry, arguments.name))
    return 0


def split_note(text: str) -> tuple[str, str]:
    """Split KEY=TEXT.

    Raises:
        ConfigError: there is no `=`, or nothing before it.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"{text!r} is not KEY=TEXT")
    return key.strip(), value
