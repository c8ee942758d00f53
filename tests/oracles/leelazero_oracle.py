"""Leela Zero nets for tests: a random net in the file's own terms, its writer, and a numpy forward pass of it.

Written from docs/nets.md §5 alone. Everything here counts rows from the bottom, as the file does: index = y * 19 + x
with y = 0 the bottom row.
"""

import gzip

import numpy as np

N, P = 19, 361


def random_net(seed=0, blocks=2, channels=6):
    """Return the rows of a random net, in the order of the file."""
    rng = np.random.default_rng(seed)

    def group(c_in, c_out, size):
        weights = rng.normal(size=c_out * c_in * size * size) * (c_in * size * size) ** -0.5
        return [weights, *(rng.normal(size=c_out) * 0.3 for _ in range(2)), np.abs(rng.normal(size=c_out)) + 0.5]

    rows = group(18, channels, 3)
    for _ in range(2 * blocks):
        rows += group(channels, channels, 3)
    rows += group(channels, 2, 1)
    rows += [rng.normal(size=362 * 722) * 0.05, rng.normal(size=362) * 0.5]
    rows += group(channels, 1, 1)
    rows += [rng.normal(size=256 * P) * 0.05, rng.normal(size=256) * 0.1]
    rows += [rng.normal(size=256) * 0.1, rng.normal(size=1) * 0.1]
    return [row.astype(np.float32) for row in rows]


def write_net(rows, path, version):
    """Write the rows as text, gzipped if the name says so."""
    lines = [str(version), *(" ".join(repr(float(x)) for x in row) for row in rows)]
    data = ("\n".join(lines) + "\n").encode("ascii")
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)


def _conv_bn(group, x, size):
    weights, bias, mean, variance = (row.astype(np.float64) for row in group)
    c_in, c_out = len(x), len(bias)
    weights = weights.reshape(c_out, c_in, size, size)
    r = size // 2
    padded = np.pad(x, ((0, 0), (r, r), (r, r)))
    out = np.zeros((c_out, N, N))
    for y in range(N):
        for z in range(N):
            window = padded[:, y : y + size, z : z + size]
            for o in range(c_out):
                out[o, y, z] = (weights[o] * window).sum()
    out += bias[:, None, None]
    return (out - mean[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None]


def forward(rows, planes, version):
    """Return (policy logits [362], value for the side to move) for planes [18, 19, 19] with row 0 at the bottom."""
    rows = list(rows)

    def group():
        taken = rows[:4]
        del rows[:4]
        return taken

    blocks = (len(rows) - 18) // 8
    x = np.maximum(_conv_bn(group(), planes, 3), 0)
    for _ in range(blocks):
        y = np.maximum(_conv_bn(group(), x, 3), 0)
        x = np.maximum(_conv_bn(group(), y, 3) + x, 0)
    policy = np.maximum(_conv_bn(group(), x, 1), 0).ravel()
    weights, bias = rows.pop(0).reshape(362, 722), rows.pop(0)
    logits = weights @ policy + bias
    value = np.maximum(_conv_bn(group(), x, 1), 0).ravel()
    hidden = np.maximum(rows.pop(0).reshape(256, P) @ value + rows.pop(0), 0)
    out = np.tanh(rows.pop(0) @ hidden + rows.pop(0))[0]
    black_to_move = planes[16, 0, 0] == 1
    return logits, out if version == 1 or black_to_move else -out
