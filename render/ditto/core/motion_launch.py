# pyright: basic, reportArgumentType=false
"""The kernels of motion sampling, launched under the names of their twins: `MotionOps` on a card."""

from dataclasses import dataclass
from typing import Final

import triton
from torch import Tensor

from ..lmdm import GUIDANCE
from ..schedule import Step
from ..seams import Hold
from . import motion_kernels as kernels
from .motion_plan import Level, Linear
from .motion_room import Memory
from .motion_tiles import Tiles
from .motion_twins import Activation

AHEAD: Final = 512
"""Numbers a warp owns, up to which registers are plenty."""


@dataclass(frozen=True, slots=True)
class MotionKernels:
    """`MotionOps` for one number of slots. All tensors are contiguous but for what has a leading stride."""

    tiles: Tiles

    def project(self, rows: Tensor, layer: Linear, *, activation: Activation = "none", out: Tensor) -> None:
        self._project(rows, layer, activation, out)

    def level_project(
        self,
        rows: Tensor,
        level: Level,
        layer: Linear,
        *,
        turned: int = 0,
        activation: Activation = "none",
        levelled: Tensor,
        out: Tensor,
    ) -> None:
        count, width, outputs, length = *rows.view(-1, rows.shape[-1]).shape, len(layer.bias), rows.shape[-2]
        tile = self.tiles.of(outputs, width)
        assert turned % tile.columns == 0 or turned == outputs
        norm = (rows, level.gain, level.offset, level.cosine, level.sine)
        if self.tiles.levels_within:
            grid = (triton.cdiv(outputs, tile.columns), triton.cdiv(count, tile.rows))
            kernels.level_project[grid](
                *norm, layer.weight, layer.bias, out, count, length, turned, out.stride(-2),
                N=outputs, HALF=width // 2, ACTIVATION=activation, BM=tile.rows, BN=tile.columns,
                **self._launch(tile.warps, tile.stages),
            )  # fmt: skip
            return
        grid, skip = (triton.cdiv(count, self.tiles.level_rows),), levelled.stride(0)
        kernels.level[grid](
            *norm, levelled, count, skip, length, HALF=width // 2, TURNED=turned > 0, PLAIN=turned < outputs,
            BM=self.tiles.level_rows, **self._launch(self.tiles.level_warps, 1),
        )  # fmt: skip
        taken = levelled[0, : len(rows)]
        self._project(taken, layer, activation, out, turned=turned, skip=skip)

    def project_into(self, rows: Tensor, layer: Linear, *, film: Tensor | None = None, out: Tensor) -> None:
        outputs, inputs = layer.weight.shape
        count, tile = out.view(-1, outputs).shape[0], self.tiles.of(outputs, inputs)
        grid = (triton.cdiv(outputs, tile.columns), triton.cdiv(count, tile.rows))
        table = layer.bias if film is None else film
        kernels.project_into[grid](
            rows, layer.weight, layer.bias, table, out, count, rows.view(-1, inputs).shape[0], out.shape[-2],
            len(table) - 2, table.stride(0), K=inputs, N=outputs, FILM=film is not None,
            AHEAD=tile.rows * tile.columns <= AHEAD * tile.warps,
            BM=tile.rows, BN=tile.columns, BK=tile.depth, **self._launch(tile.warps, tile.stages),
        )  # fmt: skip

    def attend(self, mixed: Tensor, *, heads: int, out: Tensor) -> None:
        queries, keys, values = mixed.chunk(3, dim=-1)
        self._attend(queries, Memory(keys, values, keys, values), heads, out, shared=0, late=0)

    def look(
        self,
        rows: Tensor,
        level: Level,
        query: Linear,
        memory: Memory,
        *,
        heads: int,
        levelled: Tensor,
        asked: Tensor,
        out: Tensor,
    ) -> None:
        (count, length, width), late = out.shape, memory.late_keys.shape[0]
        shared = count // 2 - 1
        if not self.tiles.looks_within:
            self.level_project(rows, level, query, turned=width, levelled=levelled, out=asked)
            self._attend(asked, memory, heads, out, shared=shared, late=late)
            return
        kernels.look[count * heads, triton.cdiv(length, self.tiles.queries)](
            rows, level.gain, level.offset, level.cosine, level.sine, query.weight, query.bias, memory.keys,
            memory.values, memory.late_keys, memory.late_values, out, (width // heads) ** -0.5, shared,
            length, memory.keys.stride(0), memory.keys.stride(1), memory.late_keys.stride(0), HEADS=heads,
            HEAD=width // heads, HALF=width // 2, LATE=late, BQ=self.tiles.queries,
            BK=triton.next_power_of_2(length + late), **self._launch(self.tiles.look_warps, 1),
        )  # fmt: skip

    def enter(self, noisy: Tensor, weight: Tensor, lead: Tensor, *, out: Tensor) -> None:
        (outputs, step), (slots, length, inputs) = weight.shape, noisy.shape
        tile = self.tiles.of(outputs, inputs)
        grid = (triton.cdiv(outputs, tile.columns), triton.cdiv(slots * length, tile.rows))
        kernels.enter[grid](
            noisy, weight, lead, out, slots * length, length, K=inputs, W_STEP=step, N=outputs,
            BM=tile.rows, BN=tile.columns, BK=tile.depth, **self._launch(tile.warps, tile.stages),
        )  # fmt: skip

    def leave(
        self,
        hidden: Tensor,
        layer: Linear,
        step: Step,
        *,
        noisy: Tensor,
        fresh: Tensor | None,
        held: Hold,
        out: Tensor,
    ) -> None:
        (outputs, inputs), (slots, length, _) = layer.weight.shape, out.shape
        columns = self.tiles.leave_columns
        factors = (step.of_noisy, step.of_clean, step.clean, step.noise, step.fresh)
        kernels.leave[triton.cdiv(outputs, columns), slots](
            hidden, layer.weight, layer.bias, noisy, noisy if fresh is None else fresh, held.old,
            held.follows, held.fade, out, slots, length, held.left, *factors, GUIDE=GUIDANCE, K=inputs,
            N=outputs, LAST=fresh is None, BT=triton.next_power_of_2(length), BN=columns,
            BK=self.tiles.leave_depth, **self._launch(self.tiles.leave_warps, 3),
        )  # fmt: skip

    def _project(
        self,
        rows: Tensor,
        layer: Linear,
        activation: Activation,
        out: Tensor,
        *,
        turned: int = 0,
        skip: int = 0,
    ) -> None:
        (outputs, step), inputs = layer.weight.shape, rows.shape[-1]
        count, tile = rows.view(-1, inputs).shape[0], self.tiles.of(outputs, inputs)
        grid = (triton.cdiv(outputs, tile.columns), triton.cdiv(count, tile.rows))
        kernels.project[grid](
            rows, layer.weight, layer.bias, out, count, turned, skip, out.stride(-2), X_STEP=inputs,
            W_STEP=step, K=inputs, N=outputs, ACTIVATION=activation, BM=tile.rows, BN=tile.columns,
            BK=tile.depth, **self._launch(tile.warps, tile.stages),
        )  # fmt: skip

    def _attend(
        self, queries: Tensor, memory: Memory, heads: int, out: Tensor, *, shared: int, late: int
    ) -> None:
        count, length, width = out.shape
        kernels.attend[count * heads, triton.cdiv(length, self.tiles.queries)](
            queries, memory.keys, memory.values, memory.late_keys, memory.late_values, out,
            (width // heads) ** -0.5, shared, length, queries.stride(0), queries.stride(1),
            memory.keys.stride(0), memory.keys.stride(1), memory.late_keys.stride(0), HEADS=heads,
            HEAD=width // heads, LATE=late, BQ=self.tiles.queries, BK=triton.next_power_of_2(length + late),
            **self._launch(self.tiles.attend_warps, 1),
        )  # fmt: skip

    def _launch(self, warps: int, stages: int) -> dict[str, int | bool]:
        options: dict[str, int | bool] = {"num_warps": warps, "num_stages": stages, "EARLY": self.tiles.early}
        return options | {"launch_pdl": True} if self.tiles.early else options
