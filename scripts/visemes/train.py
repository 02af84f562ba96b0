"""Train the viseme net on folders of shards.

    python -m scripts.visemes.train OUT SHARDS... --minutes 4

Writes OUT/net.pt, the running mean of the weights, now and again; prints the accuracy on voices held out.
"""

import argparse
import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from visavis.stream.visemes import SILENCE, VISEMES

from . import corpus, noises
from .net import WARPS, Features, Net, Shape
from .net import load as load_net
from .net import save as save_net
from .speech import HELD_OUT, RATE, load
from .spoil import Spoiler

HOP = 160
ROWS: Final = 320
UNJUDGED_ROWS = 30
"""Rows at the start of a piece whose past the net has not seen."""
SPEEDS = (0.87, 1.15)
BLUR: Final = ((-240, 0.2), (-80, 0.3), (80, 0.3), (240, 0.2))
"""A row's target is read at these samples around its middle: no label is exact."""
SMOOTHING = 0.05
CLASS_WEIGHT: Final = {"pp": 1.7, "ff": 1.7, "th": 1.3, "ch": 1.2}
SHARES: Final = {"real": 6.0, "flite": 0.7, "hibari": 0.5}
HELD_OUT_RECORDINGS: Final = frozenset({"real_jfk", "real_austen_0870", "real_austen_0930"})
RATE_MAX, DECAY, MEAN_KEEP = 3e-3, 0.05, 0.999
TAUGHT = 0.5
"""Share of a target that comes from the teacher net, if there is one."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A corpus on the device: `versions` (V, N), `labels` (N / 80,), `starts`, `ends`, `weights` (U,)."""

    versions: Tensor
    labels: Tensor
    starts: Tensor
    ends: Tensor
    weights: Tensor

    def draw(self, size: int, dice: torch.Generator) -> tuple[Tensor, Tensor]:
        """Sound (B, N) and targets (B, 15, T) of pieces taken anywhere, at any of `SPEEDS`."""
        device = self.labels.device
        pick = torch.multinomial(self.weights, size, replacement=True, generator=dice)
        speed = torch.empty(size, device=device).uniform_(*SPEEDS, generator=dice)
        room = (self.ends - self.starts)[pick] + ROWS * HOP // 4 - ROWS * HOP * speed
        offset = torch.rand(size, generator=dice, device=device) * room.clamp(min=0) + room.clamp(max=0) * 0.5
        first = self.starts[pick] - ROWS * HOP // 8 + offset
        version = torch.randint(len(self.versions), (size,), generator=dice, device=device)[:, None]
        at = first[:, None] + speed[:, None] * torch.arange(ROWS * HOP, device=device)
        at = at.clamp(0, self.versions.shape[1] - 2)
        below = at.floor().long()
        part = (at - below).float()
        sound = torch.lerp(
            self.versions[version, below].float(), self.versions[version, below + 1].float(), part
        )
        middle = first[:, None] + speed[:, None] * (torch.arange(ROWS, device=device) * HOP + HOP / 2)
        target = torch.zeros(size, ROWS, len(VISEMES), device=device)
        for shift, weight in BLUR:
            place = ((middle + shift) / corpus.STEP).long().clamp(0, len(self.labels) - 1)
            target += weight * nn.functional.one_hot(self.labels[place].long(), len(VISEMES) + 1)[..., :-1]
        return sound / 32768, target.transpose(1, 2)


def pool_on(device: torch.device, kept: corpus.Corpus) -> Pool:
    return Pool(
        torch.from_numpy(kept.versions).to(device),
        torch.from_numpy(kept.labels).to(device),
        torch.from_numpy(kept.starts).to(device).double(),
        torch.from_numpy(kept.ends).to(device).double(),
        torch.from_numpy(kept.weights).to(device),
    )


def loss_of(logits: Tensor, target: Tensor, weight: Tensor, lookahead_rows: Sequence[int]) -> Tensor:
    """Mean cross-entropy of every head (B, H, 15, T), each judged late by its look-ahead."""
    target = target * (1 - SMOOTHING) + target.sum(1, keepdim=True) * SMOOTHING / len(VISEMES)
    total = logits.new_zeros(())
    for head, rows in enumerate(lookahead_rows):
        odds = logits[:, head, :, UNJUDGED_ROWS + rows :].log_softmax(1)
        wanted = target[:, :, UNJUDGED_ROWS : target.shape[2] - rows] * weight[:, None]
        total = total - (wanted * odds).sum() / wanted.sum()
    return total / len(lookahead_rows)


@torch.no_grad()
def judge(net: Net, hear: Features, shards: Sequence[Path], device: torch.device) -> str:
    """Accuracy of each head on all and on speech rows, and recall of pp and ff within 20 ms."""
    net.eval()
    lines = []
    for head, ahead in enumerate(net.shape.lookahead_rows):
        right, true = [], []
        for shard in shards:
            for said in load(shard):
                sound = torch.from_numpy(
                    said.samples * (corpus.PEAK / max(float(np.abs(said.samples).max()), 1e-3))
                )
                sound = nn.functional.pad(sound[: len(sound) // HOP * HOP], (8000, ahead * HOP)).to(device)
                best = net(hear(sound[None]))[0, head].argmax(0)[50 + ahead :].cpu().numpy()
                right.append(best)
                true.append(corpus.labels_of(said, corpus.late_s(corpus.source_of(shard)), HOP)[: len(best)])
        lines.append(f"{10 * ahead} ms: {verdict(np.concatenate(right), np.concatenate(true))}")
    return "; ".join(lines)


def verdict(said: np.ndarray, true: np.ndarray) -> str:
    speech = true != SILENCE
    text = f"all {np.mean(said == true):.3f} speech {np.mean((said == true)[speech]):.3f}"
    for name in ("pp", "ff"):
        hit = said == VISEMES.index(name)
        near = np.convolve(hit, np.ones(5), "same") > 0
        text += f" {name} {near[true == VISEMES.index(name)].mean():.3f}"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("shards", type=Path, nargs="+")
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--batch", type=int, default=192)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--coded", type=int, default=2)
    parser.add_argument("--noise-rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--channels", type=int, default=Shape().channels)
    parser.add_argument("--dilations", type=int, nargs="+", default=Shape().dilations)
    parser.add_argument("--dropout", type=float, default=Shape().dropout)
    parser.add_argument("--ahead", type=int, nargs="+", default=Shape().lookahead_rows)
    parser.add_argument("--teacher", type=Path, help="a net that looks further ahead and was trained before")
    parser.add_argument("--start", type=Path, help="a net to go on from")
    parser.add_argument("--rate", type=float, default=RATE_MAX)
    parser.add_argument("--people", type=float, default=SHARES["real"], help="share of recordings of people")
    parser.add_argument("--corpus", type=Path, help="keep the prepared corpus here, or take it from here")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    shards = sorted(shard for folder in options.shards for shard in folder.glob("*.npz"))
    tested = [shard for shard in shards if corpus.source_of(shard) in HELD_OUT]
    people = [shard for shard in shards if corpus.source_of(shard) in HELD_OUT_RECORDINGS]
    taught = [shard for shard in shards if shard not in tested and shard not in people]
    began = time.monotonic()
    kept = corpus.kept(
        options.corpus,
        lambda: corpus.build(
            taught, shares=SHARES | {"real": options.people}, coded=options.coded, workers=options.workers
        ),
    )
    noise = torch.from_numpy(noises.bank(options.seed, 20, options.noise_rounds)).to(device)
    print(
        f"{len(taught)} shards, {kept.versions.shape[1] / RATE / 60:.1f} min, "
        f"prepared in {time.monotonic() - began:.0f} s"
    )
    dice = torch.Generator(device).manual_seed(options.seed)
    shape = Shape(options.channels, tuple(options.dilations), tuple(options.ahead), options.dropout)
    net = Net(shape) if options.start is None else load_net(options.start)
    teacher = None if options.teacher is None else load_net(options.teacher).to(device)
    training = Training(pool_on(device, kept), Spoiler(noise, dice), dice, net.to(device), teacher)
    if options.minutes <= 0:
        return
    training.run(
        options,
        lambda: (
            f"voices {judge(training.mean, training.hear, tested, device)} | "
            f"people {judge(training.mean, training.hear, people, device)}"
        ),
    )


class Training:
    """The net, the running mean of its weights, and one step after another."""

    def __init__(
        self, pool: Pool, spoiler: Spoiler, dice: torch.Generator, net: Net, teacher: Net | None
    ) -> None:
        device = pool.labels.device
        self.pool, self.spoiler, self.dice, self.net, self.teacher = pool, spoiler, dice, net, teacher
        self.hear = Features().to(device)
        if not bool(net.mean.any()):
            mels = self.hear(pool.draw(64, dice)[0])
            self.net.mean.copy_(mels.mean((0, 2))[:, None])
            self.net.spread.copy_(mels.std((0, 2))[:, None])
        self.mean = copy.deepcopy(net)
        self.weight = torch.tensor([CLASS_WEIGHT.get(name, 1.0) for name in VISEMES], device=device)
        self.optimiser = torch.optim.AdamW(self.net.parameters(), RATE_MAX, weight_decay=DECAY)

    def run(self, options: argparse.Namespace, report) -> None:
        """Train for `options.minutes`, the learning rate rising and falling over that time."""
        began, step, told = time.monotonic(), 0, 0
        while (share := (time.monotonic() - began) / 60 / options.minutes) < 1:
            rate = options.rate * min(share / 0.05, 1.0) * (0.5 + 0.5 * np.cos(np.pi * share)) + 1e-6
            self.optimiser.param_groups[0]["lr"] = rate
            loss = self.step(options.batch, step).detach()
            step += 1
            if share * 6 > told + 1:
                told += 1
                save_net(self.mean, options.out / "net.pt")
                print(f"{step} {time.monotonic() - began:.0f} s loss {loss:.3f} {report()}", flush=True)
        save_net(self.mean, options.out / "net.pt")
        print(f"{step} {time.monotonic() - began:.0f} s loss {loss:.3f} {report()}", flush=True)

    def step(self, size: int, count: int) -> Tensor:
        self.net.train()
        with torch.no_grad():
            clean, target = self.pool.draw(size, self.dice)
            speaks = (1 - target[:, SILENCE]).repeat_interleave(HOP, 1)
            sound, mute = self.spoiler.sound(clean, speaks)
            warp = torch.randint(len(WARPS), (size,), generator=self.dice, device=sound.device)
            mels = self.spoiler.mels(self.hear(sound, warp))
            target = self.taught(clean, target)
            still = nn.functional.one_hot(torch.tensor(SILENCE, device=mels.device), len(VISEMES)).float()
            target = torch.where(mute[:, None, None], still[None, :, None], target)
        loss = loss_of(self.net(mels), target, self.weight, self.net.shape.lookahead_rows)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimiser.step()
        keep = min(MEAN_KEEP, (count + 1) / (count + 10))
        with torch.no_grad():
            for mean, now in zip(
                self.mean.state_dict().values(), self.net.state_dict().values(), strict=True
            ):
                mean.lerp_(now, 1 - keep) if mean.is_floating_point() else mean.copy_(now)
        return loss

    def taught(self, clean: Tensor, target: Tensor) -> Tensor:
        """`target` mixed with what the teacher makes of the sound before it was spoilt."""
        if self.teacher is None:
            return target
        ahead = self.teacher.shape.lookahead_rows[0]
        odds = self.teacher(self.hear(nn.functional.pad(clean, (0, ahead * HOP))))[:, 0].softmax(1)[
            :, :, ahead:
        ]
        return torch.lerp(target, odds * target.sum(1, keepdim=True), TAUGHT)


if __name__ == "__main__":
    main()
