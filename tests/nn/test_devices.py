"""What can be said of a device without importing anything."""

from __future__ import annotations

import sys

import pytest

from engine.errors import EngineError
from engine.factory import make_settings, serve_gtp
from engine.nn import devices


def test_a_gpu_that_cannot_be_there_is_refused_before_the_session_begins(monkeypatch):
    """Else the refusal came with the net, seconds after the first answers."""
    monkeypatch.setattr(devices, "GPU_FILES", ("/nonexistent",))
    monkeypatch.setattr(sys, "platform", "linux")
    for words in ("cuda", "cuda:0", "cuda:0,cuda:1"):
        with pytest.raises(EngineError, match="device cuda"):
            devices.refuse_absent_gpu(words)
    for words in ("auto", "cpu"):
        devices.refuse_absent_gpu(words)
    monkeypatch.setattr("engine.gtp.process.claim_streams", lambda: None)
    with pytest.raises(EngineError, match=r"device cuda:0(: PyTorch)? is not "):
        serve_gtp(make_settings({"net": {"device": "cuda:0"}}), None)


def test_a_gpu_whose_driver_is_to_be_seen_is_left_to_the_net(monkeypatch):
    monkeypatch.setattr(devices, "GPU_FILES", ("/",))
    monkeypatch.setattr(devices, "torch_missing", lambda: None)
    devices.refuse_absent_gpu("cuda:1")
    monkeypatch.setattr(devices, "torch_missing", lambda: "PyTorch is not installed")
    with pytest.raises(EngineError, match="device cuda:1: PyTorch is not installed"):
        devices.refuse_absent_gpu("cuda:1")
