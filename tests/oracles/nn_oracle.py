"""Slow, obvious numpy reference of KataGo nets: random nets as raw records, their file, their answers for one position.

Written from docs/nets.md §1 alone, a point and a channel at a time where that is clearest; shares no code with
engine.nn. A net is a dict of records in the order of the file; arrays have the file's axes (convolution y, x, in, out).
"""

import gzip
import math

import numpy as np

META = 192
SHAPES = {3: (22, 14), 4: (22, 14), 5: (22, 14), 6: (13, 12), 7: (22, 16)}
MULTIPLIERS = [20.0, 19.0, 21.0, 18.0, 35.0, 0.3, 150.0]


class Maker:
    """Makes random records."""

    def __init__(self, seed, version):
        self.rng = np.random.default_rng(seed)
        self.version = version

    def array(self, *shape, scale=1.0):
        return (self.rng.normal(size=shape) * scale).astype(np.float32)

    def conv(self, c_in, c_out, ky=3, kx=3, dy=1, dx=1):
        return {"conv": self.array(ky, kx, c_in, c_out, scale=(ky * kx * c_in) ** -0.5), "dilation": (dy, dx)}

    def bn(self, c, has_scale=True, has_bias=True):
        return {
            "mean": self.array(c, scale=0.3),
            "variance": np.abs(self.array(c)) + np.float32(0.5),
            "eps": 1e-3,
            "scale": self.array(c) if has_scale else None,
            "bias": self.array(c) if has_bias else None,
        }

    def act(self):
        return self.rng.choice(["RELU", "MISH", "SILU", "IDENTITY"]) if self.version >= 11 else "RELU"

    def mat(self, c_in, c_out):
        return {"matmul": self.array(c_in, c_out, scale=c_in**-0.5)}

    def bias(self, c):
        return {"matbias": self.array(c)}

    def rms(self, c):
        return {"eps": 1e-5, "weight": self.array(c)}

    def ordinary(self, c):
        mid = c + 1
        parts = [self.bn(c), self.act(), self.conv(c, mid, 3, 5), self.bn(mid, has_scale=False), self.act()]
        return {"kind": "ordinary_block", "parts": [*parts, self.conv(mid, c, 3, 3, 1, 2)]}

    def gpool(self, c):
        r, g = c - 2, 3
        parts = [self.bn(c), self.act(), self.conv(c, r), self.conv(c, g), self.bn(g), self.act()]
        return {"kind": "gpool_block", "parts": [*parts, self.mat(3 * g, r), self.bn(r), self.act(), self.conv(r, c)]}

    def attention(self, c, rope, heads=4, kv=2, qd=4, vd=3):
        angles = None if rope == "none" else 50.0 if rope == "fixed" else self.array(kv, qd // 2, 2)
        mats = [self.mat(c, heads * qd), self.mat(c, kv * qd), self.mat(c, kv * vd), self.mat(heads * vd, c)]
        return {
            "kind": "transformer_attention_block",
            "dims": (heads, kv, qd, vd),
            "norm": self.rms(c),
            "mats": mats,
            "rope": angles,
        }

    def ffn(self, c, hidden=7):
        mats = [self.mat(c, hidden), self.mat(c, hidden), self.mat(hidden, c)]
        return {"kind": "transformer_ffn_block", "dims": (c, hidden), "norm": self.rms(c), "mats": mats}

    def nested(self, c, mid=5):
        inner = [self.ordinary(mid), self.gpool(mid)]
        if self.version >= 15:
            inner += [self.attention(mid, "learnable"), self.ffn(mid)]
        ends = [self.bn(c), self.act(), self.conv(c, mid, 1, 1), self.bn(mid), self.act(), self.conv(mid, c, 1, 1)]
        return {"kind": "nested_bottleneck_block", "ends": ends, "inner": inner}


def random_net(version, seed=0, *, tip="batchnorm", meta=False, policy_outputs=None):
    """Return a random net of a model version with every kind of block that versions may hold."""
    m = Maker(seed, version)
    spatial, n_globals = SHAPES.get(version, (22, 19))
    c, p1, g1, v1, v2 = 8, 3, 4, 5, 6
    blocks = [m.ordinary(c), m.gpool(c), m.nested(c)]
    if version >= 15:
        blocks += [m.attention(c, "fixed"), m.ffn(c), m.attention(c, "none", heads=2, kv=2), m.ordinary(c)]
    outputs = policy_outputs or (4 if version == 16 else 2 if version >= 12 else 1)
    scores = 1 if version == 3 else 2 if version < 8 else 4 if version == 8 else 6
    pass_parts = [m.mat(3 * g1, outputs)]
    if version >= 15:
        pass_parts = [m.mat(3 * g1, 6), m.bias(6), m.act(), m.mat(6, outputs)]
    encoder = None
    if meta:
        encoder = [m.mat(META, 6), m.bias(6), m.act(), m.mat(6, 7), m.bias(7), m.act(), m.mat(7, c)]
    return {
        "version": version,
        "inputs": (spatial, n_globals),
        "multipliers": MULTIPLIERS if version >= 13 else [20.0, 20.0, 20.0, 20.0, 40.0, 0.25, 30.0],
        "meta": encoder,
        "channels": c,
        "input": [m.conv(spatial, c), m.mat(n_globals, c)],
        "blocks": blocks,
        "tip_kind": tip,
        "tip": [
            m.bn(c) if tip == "batchnorm" else {"gamma": m.array(c), "beta": m.array(c), "eps": 1e-4, "tip": tip},
            m.act(),
        ],
        "policy": [
            *(m.conv(c, p1, 1, 1), m.conv(c, g1, 1, 1), m.bn(g1), m.act(), m.mat(3 * g1, p1)),
            *(m.bn(p1), m.act(), m.conv(p1, outputs, 1, 1), *pass_parts),
        ],
        "outputs": outputs,
        "value": [
            *(m.conv(c, v1, 1, 1), m.bn(v1, has_bias=False), m.act(), m.mat(3 * v1, v2), m.bias(v2), m.act()),
            *(m.mat(v2, 3), m.bias(3), m.mat(v2, scores), m.bias(scores), m.conv(v1, 1, 1, 1)),
        ],
    }


# The file


class Writer:
    """Writes records as tokens, with arrays as text or as @BIN@ blocks."""

    def __init__(self, version, binary):
        self.version, self.binary, self.out = version, binary, []
        self.count = 0

    def line(self, *tokens):
        self.out.append((" ".join(str(t) for t in tokens) + "\n").encode())

    def name(self):
        self.count += 1
        self.line(f"part{self.count}")

    def floats(self, array):
        array = np.asarray(array, dtype="<f4").ravel()
        if self.binary:
            self.out.append(b"@BIN@" + array.tobytes() + b"\n")
        else:
            self.line(*(repr(float(x)) for x in array))

    def part(self, part):
        self.name()
        if isinstance(part, str):
            if self.version >= 11:
                self.line(f"ACTIVATION_{part}")
        elif "conv" in part:
            self.line(*part["conv"].shape, *part["dilation"])
            self.floats(part["conv"])
        elif "matmul" in part:
            self.line(*part["matmul"].shape)
            self.floats(part["matmul"])
        elif "matbias" in part:
            self.line(len(part["matbias"]))
            self.floats(part["matbias"])
        elif "mean" in part:
            self.line(len(part["mean"]), part["eps"], int(part["scale"] is not None), int(part["bias"] is not None))
            for key in ("mean", "variance", "scale", "bias"):
                if part[key] is not None:
                    self.floats(part[key])
        elif "tip" in part:
            self.line(len(part["gamma"]), part["eps"], int(part["tip"] == "spatial"), 0)
            self.floats(part["gamma"])
            self.floats(part["beta"])
        else:
            self.line(len(part["weight"]), part["eps"])
            self.floats(part["weight"])

    def block(self, block):
        self.line(block["kind"])
        self.name()
        if block["kind"] == "nested_bottleneck_block":
            self.line(len(block["inner"]))
            for part in block["ends"][:3]:
                self.part(part)
            for inner in block["inner"]:
                self.block(inner)
            for part in block["ends"][3:]:
                self.part(part)
        elif block["kind"] == "transformer_attention_block":
            rope = block["rope"]
            learnable = isinstance(rope, np.ndarray)
            self.line(*block["dims"], int(rope is not None), int(learnable))
            for part in (block["norm"], *block["mats"]):
                self.part(part)
            if rope is not None:
                self.name()
                self.line(*(rope.shape if learnable else (rope,)))
                if learnable:
                    self.floats(rope)
        elif block["kind"] == "transformer_ffn_block":
            self.line(*block["dims"], 1)
            for part in (block["norm"], *block["mats"]):
                self.part(part)
        else:
            for part in block["parts"]:
                self.part(part)


def file_bytes(net, *, binary=True):
    """Return the file of a net, not gzipped."""
    version = net["version"]
    w = Writer(version, binary)
    w.line("test-net")
    w.line(version)
    w.line(*net["inputs"])
    if version >= 13:
        w.line(*net["multipliers"])
    if version >= 15:
        w.line(int(net["meta"] is not None), 0, 0, 0, 0, 0, 0, 0)
    w.line("trunk", len(net["blocks"]), net["channels"], net["channels"], 4, 0, 3)
    if version >= 15:
        w.line(int(net["tip_kind"] != "batchnorm"), 0, 0, 0, 0, 0)
    for part in net["input"]:
        w.part(part)
    if net["meta"]:
        w.name()
        w.line(META)
        for part in net["meta"]:
            w.part(part)
    for block in net["blocks"]:
        w.block(block)
    for part in net["tip"]:
        w.part(part)
    w.name()
    if version >= 17:
        w.line(net["outputs"], 0, 0, 0)
    for part in net["policy"]:
        w.part(part)
    w.name()
    if version >= 17:
        w.line(0, 0, 0)
    for part in net["value"]:
        w.part(part)
    return b"".join(w.out)


def write_net(net, path, *, binary=True, packed=True):
    """Write a net to a file."""
    data = file_bytes(net, binary=binary)
    path.write_bytes(gzip.compress(data, 1) if packed else data)


# The forward pass, for one position [C, H, W]


def conv(part, x):
    weights, (dy, dx) = part["conv"].astype(np.float64), part["dilation"]
    ky, kx, _, c_out = weights.shape
    _, height, width = x.shape
    out = np.zeros((c_out, height, width))
    for row in range(height):
        for column in range(width):
            for i in range(ky):
                for j in range(kx):
                    y, z = row + dy * (i - ky // 2), column + dx * (j - kx // 2)
                    if 0 <= y < height and 0 <= z < width:
                        out[:, row, column] += x[:, y, z] @ weights[i, j]
    return out


def bn(part, x):
    y = (x.T - part["mean"]) / np.sqrt(part["variance"].astype(np.float64) + part["eps"])
    y = y * (1 if part["scale"] is None else part["scale"]) + (0 if part["bias"] is None else part["bias"])
    return y.T


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def act(name, x):
    if name == "RELU":
        return np.maximum(x, 0)
    if name == "MISH":
        return x * np.tanh(softplus(x))
    if name == "SILU":
        return x / (1 + np.exp(-x))
    return x


def pool(x, value_style=False):
    side = math.sqrt(x.shape[1] * x.shape[2])
    mean = x.mean(axis=(1, 2))
    third = mean * ((side - 14) ** 2 * 0.01 - 0.1) if value_style else x.max(axis=(1, 2))
    return np.concatenate([mean, mean * (side - 14) * 0.1, third])


def rms(part, vector):
    return vector / np.sqrt((vector**2).mean() + part["eps"]) * part["weight"]


def rotate(vector, angles):
    out = vector.copy()
    for p, angle in enumerate(angles):
        a, b = vector[2 * p], vector[2 * p + 1]
        out[2 * p] = a * math.cos(angle) - b * math.sin(angle)
        out[2 * p + 1] = a * math.sin(angle) + b * math.cos(angle)
    return out


def angles_at(rope, kv_head, pairs, x, y):
    if isinstance(rope, np.ndarray):
        return [x * fx + y * fy for fx, fy in rope[kv_head].astype(np.float64)]
    half = pairs // 2
    return [(y if p < half else x) * rope ** (-2 * (p % half) / pairs) for p in range(pairs)]


def attention(block, x):
    heads, kv, qd, vd = block["dims"]
    q_mat, k_mat, v_mat, out_mat = (m["matmul"].astype(np.float64) for m in block["mats"])
    _, height, width = x.shape
    points = [(r, c) for r in range(height) for c in range(width)]
    normed = [rms(block["norm"], x[:, r, c]) for r, c in points]
    mixed = np.zeros((len(points), heads * vd))
    for head in range(heads):
        group = head // (heads // kv)
        queries, keys, values = [], [], []
        for (r, c), vector in zip(points, normed, strict=True):
            query = vector @ q_mat[:, head * qd : (head + 1) * qd]
            key = vector @ k_mat[:, group * qd : (group + 1) * qd]
            if block["rope"] is not None:
                angles = angles_at(block["rope"], group, qd // 2, c, r)
                query, key = rotate(query, angles), rotate(key, angles)
            queries.append(query)
            keys.append(key)
            values.append(vector @ v_mat[:, group * vd : (group + 1) * vd])
        for i, query in enumerate(queries):
            logits = np.array([query @ key for key in keys]) / math.sqrt(qd)
            weights = np.exp(logits - logits.max())
            mixed[i, head * vd : (head + 1) * vd] = (weights / weights.sum()) @ np.array(values)
    return x + (mixed @ out_mat).T.reshape(x.shape)


def ffn(block, x):
    first, gate, second = (m["matmul"].astype(np.float64) for m in block["mats"])
    out = x.copy()
    for r in range(x.shape[1]):
        for c in range(x.shape[2]):
            y = rms(block["norm"], x[:, r, c])
            out[:, r, c] += (act("SILU", y @ first) * (y @ gate)) @ second
    return out


def run_block(block, x):
    kind = block["kind"]
    if kind == "transformer_attention_block":
        return attention(block, x)
    if kind == "transformer_ffn_block":
        return ffn(block, x)
    if kind == "nested_bottleneck_block":
        b1, a1, c1, b2, a2, c2 = block["ends"]
        y = conv(c1, act(a1, bn(b1, x)))
        for inner in block["inner"]:
            y = run_block(inner, y)
        return x + conv(c2, act(a2, bn(b2, y)))
    if kind == "ordinary_block":
        b1, a1, c1, b2, a2, c2 = block["parts"]
        return x + conv(c2, act(a2, bn(b2, conv(c1, act(a1, bn(b1, x))))))
    b1, a1, c1, cg, bg, ag, mat, b2, a2, c2 = block["parts"]
    y = act(a1, bn(b1, x))
    bias = pool(act(ag, bn(bg, conv(cg, y)))) @ mat["matmul"]
    return x + conv(c2, act(a2, bn(b2, conv(c1, y) + bias[:, None, None])))


def tip(part, x):
    if "mean" in part:
        return bn(part, x)
    square = x**2
    mean = square.mean() if part["tip"] == "spatial" else square.mean(axis=0)
    y = x / np.sqrt(mean + part["eps"])
    return y * part["gamma"][:, None, None] + part["beta"][:, None, None]


def forward(net, spatial, globals_, meta=None):
    """Return policy logits [outputs, A], value logits [3], score outputs [S] and ownership before tanh [P]."""
    x = conv(net["input"][0], spatial) + (globals_ @ net["input"][1]["matmul"])[:, None, None]
    if net["meta"]:
        m1, b1, a1, m2, b2, a2, m3 = net["meta"]
        hidden = act(a1, meta @ m1["matmul"] + b1["matbias"])
        x = x + (act(a2, hidden @ m2["matmul"] + b2["matbias"]) @ m3["matmul"])[:, None, None]
    for block in net["blocks"]:
        x = run_block(block, x)
    x = act(net["tip"][1], tip(net["tip"][0], x))
    p1, g1, gbn, gact, to_bias, pbn, pact, p2, *passing = net["policy"]
    pooled = pool(act(gact, bn(gbn, conv(g1, x))))
    points = conv(p2, act(pact, bn(pbn, conv(p1, x) + (pooled @ to_bias["matmul"])[:, None, None])))
    pass_logits = pooled @ passing[0]["matmul"]
    if len(passing) > 1:
        pass_logits = act(passing[2], pass_logits + passing[1]["matbias"]) @ passing[3]["matmul"]
    policy = np.concatenate([points.reshape(len(points), -1), pass_logits[:, None]], axis=1)
    v1, vbn, vact, m2, b2, a2, m3, b3, ms, bs, own = net["value"]
    maps = act(vact, bn(vbn, conv(v1, x)))
    hidden = act(a2, pool(maps, value_style=True) @ m2["matmul"] + b2["matbias"])
    ownership = conv(own, maps).ravel()
    return policy, hidden @ m3["matmul"] + b3["matbias"], hidden @ ms["matmul"] + bs["matbias"], ownership


def postprocess(net, policy, value, score, ownership, globals_, optimism):
    """Return the Evaluation's fields by name (docs/nets.md §1.8)."""
    version = net["version"]
    _, mean_mult, stdev_mult, lead_mult, time_mult, value_mult, score_mult = net["multipliers"]
    value = value.copy()
    if globals_[6] != 0 and globals_[9] == 0:
        value[2] -= 100000
    win, loss, none = np.exp(value - value.max()) / np.exp(value - value.max()).sum()
    plain = len(policy) == 1 or net["meta"]
    out = {
        "policy_logits": policy[0] if plain else policy[0] + optimism * (policy[1] - policy[0]),
        "value": win - loss,
        "no_result": none,
        "ownership": np.tanh(ownership),
        "var_time_left": -1.0,
        "shortterm_value_error": -1.0,
        "shortterm_score_error": -1.0,
    }
    if version >= 4:
        mean, stdev = score[0] * mean_mult, softplus(score[1]) * stdev_mult
        square = (mean**2 + stdev**2) * (1 - none)
        out["score_mean"] = mean * (1 - none)
        out["score_stdev"] = math.sqrt(square - out["score_mean"] ** 2)
        out["lead"] = (score[2] * lead_mult if version >= 8 else mean) * (1 - none)
    if version >= 9:
        out["var_time_left"] = softplus(score[3]) * time_mult
        if version >= 14:
            out["shortterm_value_error"] = math.sqrt(softplus(score[4] / 2) ** 2 * value_mult)
            out["shortterm_score_error"] = math.sqrt(softplus(score[5] / 2) ** 2 * score_mult)
        elif version >= 10:
            out["shortterm_value_error"] = math.sqrt(softplus(score[4]) * value_mult)
            out["shortterm_score_error"] = math.sqrt(softplus(score[5]) * score_mult)
        else:
            out["shortterm_value_error"], out["shortterm_score_error"] = softplus(score[4]), softplus(score[5]) * 10
    return out
