"""A test evaluator with one opinion, Black's, so that points of view can be told apart."""

import numpy as np

from engine.evaluator import ENCODING_SHAPES, Evaluation


class Lopsided:
    """An evaluator that gives Black 80 percent, 10 points and the whole board."""

    encoding, max_batch, name = "katago-v7", 8, "lopsided"

    def supports_size(self, width, height):
        return True

    def allocate(self, batch, width, height):
        planes, numbers = ENCODING_SHAPES[self.encoding]
        return np.zeros((batch, planes, height, width), np.float32), np.zeros((batch, numbers), np.float32)

    def evaluate(self, spatial, globals_, *, ownership=False):
        batch, _, height, width = spatial.shape
        black = np.where(globals_[:, 5] < 0, 1.0, -1.0).astype(np.float32)  # own komi is negative for Black
        zeros = np.zeros(batch, np.float32)
        return Evaluation(
            policy_logits=np.zeros((batch, width * height + 1), np.float32),
            value=0.6 * black,
            no_result=zeros,
            ownership=np.repeat(black[:, None], width * height, 1) if ownership else None,
            lead=10 * black,
            score_mean=10 * black,
            score_stdev=zeros + 5,
        )
