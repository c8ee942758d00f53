"""Writes a net's raw output as kata-raw-nn does, White positive, and as Leela Zero's heatmap; rows from the top."""

from __future__ import annotations

import math

from engine.player.rawnet import FloatArray, RawOutput


def raw_text(output: RawOutput) -> str:
    """Return the lines for one symmetry. What the net does not say is left out, or -1 where KataGo has it so."""
    if not output.judged:
        return "\n".join([f"symmetry {output.symmetry}", *_policy(output)])
    lines = [
        f"symmetry {output.symmetry}",
        f"whiteWin {output.white_win:.6f}",
        f"whiteLoss {output.white_loss:.6f}",
        f"noResult {output.no_result:.6f}",
    ]
    for name, value in (
        ("whiteLead", output.white_lead),
        ("whiteScoreSelfplay", output.white_score_mean),
        ("whiteScoreSelfplaySq", output.white_score_mean_sq),
    ):
        if value is not None:
            lines.append(f"{name} {value:.3f}")
    lines += [
        f"varTimeLeft {output.var_time_left:.3f}",
        f"shorttermWinlossError {output.shortterm_value_error:.3f}",
        f"shorttermScoreError {output.shortterm_score_error:.3f}",
        *_policy(output),
    ]
    if output.white_ownership is not None:
        lines += ["whiteOwnership", *_rows(output.white_ownership, 7)]
    return "\n".join(lines)


def heatmap_text(output: RawOutput, color: int) -> str:
    """Return rows of whole thousandths, each beginning with a space, then "pass: N" and "winrate: P" for `color`."""
    shares = [0 if math.isnan(value) else round(1000 * value) for value in output.policy.tolist()]
    height, width = output.shape
    rows = ["".join(f" {share:3}" for share in shares[y * width : (y + 1) * width]) for y in range(height)]
    lines = [*rows, f"pass: {shares[-1]}"]
    if output.judged:
        win = output.white_loss if color == 1 else output.white_win
        lines.append(f"winrate: {win + output.no_result / 2:.6f}")
    return "\n".join(lines)


def _policy(output: RawOutput) -> list[str]:
    rows = _rows(output.policy[:-1].reshape(output.shape), 6)
    return ["policy", *rows, f"policyPass {_number(float(output.policy[-1]), 6)}"]


def _rows(values: FloatArray, digits: int) -> list[str]:
    return [" ".join(_number(value, digits) for value in row) for row in values.tolist()]


def _number(value: float, digits: int) -> str:
    return "NAN" if math.isnan(value) else f"{value:.{digits}f}"
