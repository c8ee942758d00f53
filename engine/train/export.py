"""`keisei export`: a trained net into weights/, with its line in the manifest.

The manifest (`weights/manifest.toml`) says of every shipped net: file, sha256, encoding, sizes, recipe, commit and the
figures that were measured, each with the command that measures it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError

if TYPE_CHECKING:
    from torch import nn

log = logging.getLogger(__name__)

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


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest as a dictionary, name -> entry; empty if there is no file.

    Raises:
        ConfigError: it is no TOML.
    """
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error


def write_manifest(path: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest: one table a net, `measured` as a table below it."""
    text = HEAD
    for name, entry in manifest.items():
        text += f"\n[{json.dumps(name)}]\n"
        text += "".join(f"{key} = {toml_value(value)}\n" for key, value in entry.items() if not isinstance(value, dict))
        for key, table in entry.items():
            if isinstance(table, dict):
                text += f"\n[{json.dumps(name)}.{key}]\n"
                text += "".join(f"{json.dumps(k)} = {toml_value(v)}\n" for k, v in table.items())
    path.write_text(text, encoding="utf-8")


def export(source: Path, weights: Path, name: str, *, note: dict[str, Any]) -> dict[str, Any]:
    """Write a net into the weights folder under its name, and its manifest entry; figures of the same file are kept.

    Args:
        source: a safetensors net.
        weights: the folder of the shipped nets.
        name: of the net; the file is named after it.
        note: further keys of the entry.

    Returns: the entry.

    Raises:
        WeightsError: the file is no net of ours.
        ConfigError: the manifest is damaged.
    """
    from engine.nn import checkpoint

    spec, tensors, metadata = checkpoint.load(source)
    target = weights / f"{name}.safetensors"
    checkpoint.save(target, {**spec, "name": name}, tensors, {**metadata, "name": name})
    manifest = read_manifest(weights / "manifest.toml")
    old = manifest.get(name, {})
    digest = sha256(target)
    entry = {
        "file": target.name,
        "sha256": digest,
        "bytes": target.stat().st_size,
        "encoding": spec["encoding"],
        "parameters": sum(t.numel() for t in tensors.values()),
        **{key: value for key, value in metadata.items() if key != "name"},
        **note,
    }
    if old.get("sha256") == digest and "measured" in old:
        entry["measured"] = old["measured"]
    manifest[name] = entry
    write_manifest(weights / "manifest.toml", manifest)
    return entry


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei export`. Errors go to the caller as EngineError."""
    parser = argparse.ArgumentParser(prog="keisei export", description=__doc__)
    parser.add_argument("net", type=Path, help="net.safetensors of a run")
    parser.add_argument("--name", required=True, help="name under which the net is shipped")
    parser.add_argument("--weights", type=Path, default=Path("weights"), help="folder of the shipped nets")
    parser.add_argument("--note", action="append", default=[], metavar="KEY=TEXT", help="a further line of the entry")
    parser.add_argument("--measured", action="append", default=[], metavar="KEY=TEXT", help="a measured figure")
    arguments = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    note = dict(split_note(text) for text in arguments.note)
    entry = export(arguments.net, arguments.weights, arguments.name, note=note)
    if arguments.measured:
        manifest = read_manifest(arguments.weights / "manifest.toml")
        figures = dict(split_note(text) for text in arguments.measured)
        manifest[arguments.name].setdefault("measured", {}).update(figures)
        write_manifest(arguments.weights / "manifest.toml", manifest)
    log.info("%s: %d bytes, sha256 %s", entry["file"], entry["bytes"], entry["sha256"])
    return 0


def split_note(text: str) -> tuple[str, str]:
    """Split KEY=TEXT.

    Raises:
        ConfigError: there is no `=`.
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"{text!r} is not KEY=TEXT")
    return key, value
