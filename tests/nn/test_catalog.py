"""The manifest of shipped nets, names and files, and `keisei nets`."""

import hashlib
import json

import pytest
import torch

from engine.errors import WeightsError
from engine.nn import catalog, checkpoint
from engine.nn.new_spec import new_net_spec
from engine.nn.policy_value import build_module, fold_for_export


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A weights folder with two nets, as the installed one."""
    torch.manual_seed(0)
    spec = new_net_spec(blocks=1, channels=8, gpool_every=0)
    tensors = fold_for_export(build_module(spec, trainable=True))
    text = ""
    for name in ("small", "great"):
        path = tmp_path / f"{name}.safetensors"
        checkpoint.save(path, spec, tensors, {"name": name, "sizes": [[9, 9]], "recipe": "r.toml"})
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        text += f'[{name}]\nfile = "{path.name}"\nsha256 = "{digest}"\nencoding = "katago-v7"\nelo = 5\n'
        text += "default = true\n" if name == "great" else ""
    (tmp_path / "manifest.toml").write_text(text)
    monkeypatch.setattr(catalog, "weights_dir", lambda: tmp_path)
    return tmp_path


def test_find(weights):
    assert catalog.find(None) == weights / "great.safetensors"
    assert catalog.find("small") == weights / "small.safetensors"
    assert catalog.find(str(weights / "small.safetensors")) == weights / "small.safetensors"
    with pytest.raises(WeightsError, match="did you mean great"):
        catalog.find("graet")
    with pytest.raises(WeightsError, match=r"x\.bin\.gz: no such file"):
        catalog.find("x.bin.gz")


def test_list_and_info(weights, capsys):
    assert catalog.main(["list"]) == 0
    out = capsys.readouterr().out
    assert out.split("\n")[1].split() == ["great", "katago-v7", "plays,", "if", "no", "other", "is", "named"]
    assert catalog.main(["list", "--json"]) == 0
    assert [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()] == ["great", "small"]
    assert catalog.main(["info", "small"]) == 0
    out = capsys.readouterr().out
    assert "name        small" in out and "trained on  9x9" in out and "recipe      r.toml" in out
    assert catalog.main(["info", str(weights / "great.safetensors"), "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["encoding"] == "katago-v7" and described["sizes"] == [[9, 9]]


def test_a_name_that_is_like_no_net_suggests_none(weights):
    with pytest.raises(WeightsError, match=r"^nonet: neither a file nor a shipped net: shipped are great, small$"):
        catalog.find("nonet")
    with pytest.raises(WeightsError, match="a folder, not a net file"):
        catalog.find(str(weights))
    (weights / "great.safetensors").unlink()
    for name in (None, "great"):
        with pytest.raises(WeightsError, match=r"great\.safetensors: the file of the shipped net great is missing"):
            catalog.find(name)


def test_the_list_is_a_table_for_people(weights, capsys):
    manifest = weights / "manifest.toml"
    sizes = [[n, n] for n in range(7, 20)]
    manifest.write_text(
        manifest.read_text()
        + f'bytes = 1849424\nparameters = 460262\nsizes = {sizes}\nabout = "judges; no moves"\n'
        + '[great.measured]\n"GNU Go" = "9 of 10: keisei match a b --games 10"\n'
    )
    assert catalog.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "great  460 262  1.8  7-19           katago-v7  plays, if no other is named" in lines
    assert "  GNU Go: 9 of 10" in lines and not any("{" in line for line in lines)
    assert catalog.boards([[9, 9], [13, 13], [19, 19]]) == "9, 13, 19" and catalog.boards([[9, 7], [9, 9]]) == "9, 9x7"
    assert catalog.boards(None) == catalog.boards([["a"]]) == ""


def test_info_checks_the_sum(weights):
    manifest = weights / "manifest.toml"
    manifest.write_text(manifest.read_text().replace('sha256 = "', 'sha256 = "0000'))
    with pytest.raises(WeightsError, match="64 hexadecimal"):
        catalog.read_manifest()
    path = weights / "small.safetensors"
    manifest.write_text(f'[small]\nfile = "small.safetensors"\nsha256 = "{"0" * 64}"\nencoding = "katago-v7"\n')
    with pytest.raises(WeightsError, match="the manifest says"):
        catalog.main(["info", str(path)])


OUTSIDE = '[a]\nfile = "../x"\nsha256 = "0"\nencoding = ""\n'


@pytest.mark.parametrize("text", ["[a", "[a]\nfile = 3\n", "a = 1\n", OUTSIDE])
def test_bad_manifests(weights, text):
    (weights / "manifest.toml").write_text(text)
    with pytest.raises(WeightsError, match="manifest"):
        catalog.read_manifest()


def test_no_manifest(tmp_path):
    with pytest.raises(WeightsError, match="manifest"):
        catalog.read_manifest(tmp_path)


@pytest.mark.parametrize("folder", ["engine/_weights", "weights"])
def test_weights_of_an_installed_package_and_of_a_source_tree(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(catalog, "__file__", str(tmp_path / "engine" / "nn" / "catalog.py"))
    with pytest.raises(WeightsError, match=catalog.MANIFEST):
        catalog.weights_dir()
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / catalog.MANIFEST).write_text("")
    assert catalog.weights_dir() == tmp_path / folder


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", ""])
def test_impossible_names_are_refused_like_any_other(weights, name):
    with pytest.raises(WeightsError, match="neither a file nor a shipped net"):
        catalog.find(name)
