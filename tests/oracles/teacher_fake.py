"""What the training tests share: a teacher whose answers depend on the position alone, and samples for it."""

import numpy as np

from engine.evaluator import Evaluation
from engine.train import label as label_module
from engine.train.labeller import Labeller
from engine.train.records import Game
from engine.train.samples import Sample
from engine.train.shards import Header

HEADER = Header("katago-v7", 22, 19, "nobody", {})


class Teacher:
    """Answers with numbers that depend on the position alone."""

    encoding = "katago-v7"
    max_batch = 64
    name = "test"

    def allocate(self, batch, width, height):
        return np.zeros((batch, 22, height, width), np.float32), np.zeros((batch, 19), np.float32)

    def evaluate(self, spatial, globals_, *, ownership=False):
        size = spatial.shape[2]
        key = (spatial * np.arange(1, 23)[None, :, None, None]).sum(1).reshape(len(spatial), -1)
        logits = np.concatenate([10 * (key * np.arange(1, size * size + 1) * 0.7548 % 1.0), np.zeros((len(key), 1))], 1)
        value = np.tanh(np.sin(key.sum(1))).astype(np.float32)
        return Evaluation(
            logits.astype(np.float32),
            value,
            lead=10 * value,
            score_mean=9 * value,
            score_stdev=np.abs(value),
            no_result=np.zeros_like(value),
            ownership=np.cos(key).astype(np.float32),
        )


def some_samples(count, size=9, seed=0):
    rng = np.random.default_rng(seed)
    samples = []
    for number in range(count):
        order = rng.permutation(size * size)[:12]
        moves = "".join(chr(97 + a % size) + chr(97 + a // size) for a in order)
        samples.append(
            Sample(
                Game(size, moves, result=1, komi=7.5), number % 12, number % 3, number % 7 == 0, "chinese", 7.5, number
            )
        )
    return samples


def run_label(out, samples, part="0/1"):
    return label_module.label(workers(), HEADER, iter(samples), out, batch=4, part=part)


def workers(header=HEADER, teacher=True):
    """Label in this process, with the teacher or without one."""
    return label_module.OneProcess(Labeller(Teacher() if teacher else None, header, 4))
