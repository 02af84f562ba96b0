import torch
from visavis.render.ditto.core.choice import TWINS, ops_for


def test_a_cpu_runs_the_plain_steps() -> None:
    assert ops_for(torch.device("cpu")) is TWINS
