"""Training tests compute little: one thread is fastest, above all where other work runs."""

import torch

torch.set_num_threads(1)
