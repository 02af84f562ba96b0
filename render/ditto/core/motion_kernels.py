# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""The steps of sampling motion as Triton kernels. `motion_twins` says what each does.

Products sum in float32, in an order that neither the batch nor a row's place in it changes. A program that
makes rows `first` and on of a matrix reads those beyond its end from its beginning, and does not write them.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

EPSILON = tl.constexpr(1e-5)
"""Of layer norms."""


@triton.jit
def _start(EARLY: tl.constexpr):
    """Wait for the kernel before, and let the next one come up."""
    if EARLY:
        gdc_wait()
        gdc_launch_dependents()


@triton.jit
def _at_once(weight, cols, W_STEP: tl.constexpr, K: tl.constexpr, BK: tl.constexpr):
    """All of the weights of a product's `cols`, if it takes them all at once."""
    at = tl.arange(0, BK)
    return tl.load(weight + cols[None, :] * W_STEP + at[:, None]) if K == BK else 0.0


@triton.jit
def _product(x, weight, at_once, rows, cols, X_STEP: tl.constexpr, W_STEP: tl.constexpr, K: tl.constexpr,
             BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    """(BM, BN) float32: `rows` of x (., X_STEP) times `cols` of weight (N, W_STEP), over their first K."""
    at = tl.arange(0, BK)
    taken = x + rows[:, None] * X_STEP + at[None, :]
    part = weight + cols[None, :] * W_STEP + at[:, None]
    if K == BK:
        total = tl.dot(tl.load(taken).to(weight.dtype.element_ty), at_once, input_precision="ieee")
    else:
        total = tl.zeros((BM, BN), tl.float32)
        for first in range(0, K, BK):
            if K % BK == 0:
                some = tl.load(taken + first)
                other = tl.load(part + first)
            else:
                some = tl.load(taken + first, mask=at[None, :] < K - first, other=0.0)
                other = tl.load(part + first, mask=at[:, None] < K - first, other=0.0)
            total = tl.dot(some.to(weight.dtype.element_ty), other, total, input_precision="ieee")
    return total


@triton.jit
def _activated(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "gelu":
        x = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    if ACTIVATION == "silu":
        x = x / (1.0 + tl.exp(-x))
    return x


@triton.jit
def _levelled(x, gain, offset, rows, HALF: tl.constexpr):
    """The two halves (BM, HALF) float32 of rows of x, normed."""
    at = tl.arange(0, HALF)[None, :]
    low = tl.load(x + rows[:, None] * (2 * HALF) + at).to(tl.float32)
    high = tl.load(x + rows[:, None] * (2 * HALF) + HALF + at).to(tl.float32)
    low_gain = tl.load(gain + at)
    high_gain = tl.load(gain + HALF + at)
    low_offset = tl.load(offset + at)
    high_offset = tl.load(offset + HALF + at)
    mean = tl.sum(low + high, 1) / (2 * HALF)
    low -= mean[:, None]
    high -= mean[:, None]
    spread = tl.sum(low * low + high * high, 1) / (2 * HALF)
    scale = tl.rsqrt(spread + EPSILON)[:, None]
    return low * scale * low_gain + low_offset, high * scale * high_gain + high_offset


@triton.jit
def _angles(cosine, sine, positions, HALF: tl.constexpr):
    """Cosines and sines (BM, HALF) of `positions`."""
    at = positions[:, None] * HALF + tl.arange(0, HALF)[None, :]
    c = tl.load(cosine + at).to(tl.float32)
    s = tl.load(sine + at).to(tl.float32)
    return c, s


@triton.jit
def project(x, weight, bias, out, count, turned, skip, out_step, X_STEP: tl.constexpr, W_STEP: tl.constexpr,
            K: tl.constexpr, N: tl.constexpr, ACTIVATION: tl.constexpr, EARLY: tl.constexpr,
            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    """A program owns BM rows by BN outputs. Outputs from `turned` on read their rows `skip` further on."""
    first = tl.program_id(0) * BN
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = first + tl.arange(0, BN)
    at_once = _at_once(weight, cols % N, W_STEP, K, BK)
    added = tl.load(bias + cols % N)[None, :]
    _start(EARLY)
    x += tl.where(first >= turned, skip, 0)
    total = _product(x, weight, at_once, rows % count, cols % N, X_STEP, W_STEP, K, BM, BN, BK)
    found = _activated(total + added, ACTIVATION)
    inside = (rows[:, None] < count) & (cols[None, :] < N)
    tl.store(out + rows[:, None] * out_step + cols[None, :], found, mask=inside)


@triton.jit
def level(x, gain, offset, cosine, sine, out, count, skip, length, HALF: tl.constexpr, TURNED: tl.constexpr,
          PLAIN: tl.constexpr, EARLY: tl.constexpr, BM: tl.constexpr):  # fmt: skip
    """A program owns BM rows: into `out` turned, and `skip` further on as they are."""
    _start(EARLY)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    c, s = _angles(cosine, sine, rows % length, HALF)
    low, high = _levelled(x, gain, offset, rows % count, HALF)
    target = out + rows[:, None] * (2 * HALF) + tl.arange(0, HALF)[None, :]
    inside = rows[:, None] < count
    if PLAIN:
        tl.store(target + skip, low, mask=inside)
        tl.store(target + skip + HALF, high, mask=inside)
    if TURNED:
        tl.store(target, low * c - high * s, mask=inside)
        tl.store(target + HALF, high * c + low * s, mask=inside)


@triton.jit
def _turned_product(x, gain, offset, cosine, sine, positions, is_turned, low_weight, high_weight, rows,
                    HALF: tl.constexpr):  # fmt: skip
    """(BM, BN) float32: rows of x, normed and, if it `is_turned`, turned, times weights (HALF, BN) of their
    two halves. The branch also keeps the compiler from turning rows anew in each warp, which spills."""
    low, high = _levelled(x, gain, offset, rows, HALF)
    if is_turned:
        c, s = _angles(cosine, sine, positions, HALF)
        low, high = low * c - high * s, high * c + low * s
    total = tl.dot(low.to(low_weight.dtype), low_weight, input_precision="ieee")
    return tl.dot(high.to(low_weight.dtype), high_weight, total, input_precision="ieee")


@triton.jit
def level_project(x, gain, offset, cosine, sine, weight, bias, out, count, length, turned, out_step,
                  N: tl.constexpr, HALF: tl.constexpr, ACTIVATION: tl.constexpr, EARLY: tl.constexpr,
                  BM: tl.constexpr, BN: tl.constexpr):  # fmt: skip
    """A program owns BM rows by BN outputs: it asks for all of its weights at once, then levels its rows."""
    first = tl.program_id(0) * BN
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = first + tl.arange(0, BN)
    low_weight = _at_once(weight, cols % N, 2 * HALF, HALF, HALF)
    high_weight = _at_once(weight + HALF, cols % N, 2 * HALF, HALF, HALF)
    added = tl.load(bias + cols % N)[None, :]
    _start(EARLY)
    total = _turned_product(x, gain, offset, cosine, sine, rows % length, first < turned, low_weight,
                            high_weight, rows % count, HALF)  # fmt: skip
    found = _activated(total + added, ACTIVATION)
    inside = (rows[:, None] < count) & (cols[None, :] < N)
    tl.store(out + rows[:, None] * out_step + cols[None, :], found, mask=inside)


@triton.jit
def _film(film, out, rows, cols, inside, length, shared, film_step, N: tl.constexpr, FILM: tl.constexpr):
    """Scale and shift of a tile, and what is in it."""
    before = tl.load(out + rows[:, None] * N + cols[None, :], mask=inside, other=0.0).to(tl.float32)
    scale = 1.0
    shift = 0.0
    if FILM:
        own = tl.maximum(rows // length - shared, 0)
        table = film + own[:, None] * film_step + cols[None, :]
        scale = tl.load(table, mask=inside, other=0.0).to(tl.float32)
        shift = tl.load(table + N, mask=inside, other=0.0).to(tl.float32)
    return scale, shift, before


@triton.jit
def project_into(x, weight, bias, film, out, count, x_count, length, shared, film_step, K: tl.constexpr,
                 N: tl.constexpr, FILM: tl.constexpr, AHEAD: tl.constexpr, EARLY: tl.constexpr,
                 BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    """A program owns BM rows by BN outputs of `out` (count, N). Where x has fewer rows they are read again;
    row r of 2 B has the FiLM max(r - `shared`, 0). Small tiles ask for all they need ahead of the product."""
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < count) & (cols[None, :] < N)
    at_once = _at_once(weight, cols % N, K, K, BK)
    added = tl.load(bias + cols % N)[None, :]
    _start(EARLY)
    if AHEAD:
        scale, shift, before = _film(film, out, rows, cols, inside, length, shared, film_step, N, FILM)
        found = _product(x, weight, at_once, rows % x_count, cols % N, K, K, K, BM, BN, BK)
    else:
        found = _product(x, weight, at_once, rows % x_count, cols % N, K, K, K, BM, BN, BK)
        scale, shift, before = _film(film, out, rows, cols, inside, length, shared, film_step, N, FILM)
    target = out + rows[:, None] * N + cols[None, :]
    tl.store(target, before + (scale * (found + added) + shift), mask=inside)


@triton.jit
def _recalled(q, keys, values, late_keys, late_values, column, length, scale, key_step, late_step,
              LATE: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    """(BQ, HEAD) float32: what queries q find among `length` keys and values, and LATE more."""
    at = tl.arange(0, BK)
    main = at < length
    place = at * key_step
    k = tl.load(keys + place[None, :] + column[:, None], mask=main[None, :], other=0.0)
    v = tl.load(values + place[:, None] + column[None, :], mask=main[:, None], other=0.0)
    if LATE > 0:
        late = (at >= length) & (at < length + LATE)
        place = (at - length) * late_step
        k += tl.load(late_keys + place[None, :] + column[:, None], mask=late[None, :], other=0.0)
        v += tl.load(late_values + place[:, None] + column[None, :], mask=late[:, None], other=0.0)
    scores = tl.dot(q, k, input_precision="ieee")
    scores = tl.where(at[None, :] < length + LATE, scores, float("-inf"))
    scale = scale * 1.4426950408889634
    shares = tl.exp2(scores * scale - (tl.max(scores, 1) * scale)[:, None])
    share = 1.0 / tl.sum(shares, 1)
    return tl.dot(shares.to(v.dtype), v, input_precision="ieee") * share[:, None]


@triton.jit
def attend(queries, keys, values, late_keys, late_values, out, scale, shared, length, query_row, query_step,
           key_row, key_step, late_step, HEADS: tl.constexpr, HEAD: tl.constexpr, LATE: tl.constexpr,
           EARLY: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    """A program owns BQ queries of a head of a row r, whose keys and values are in row max(r - `shared`, 0):
    `length` of them, and LATE more that all rows share."""
    _start(EARLY)
    row = tl.program_id(0) // HEADS
    column = tl.program_id(0) % HEADS * HEAD + tl.arange(0, HEAD)
    own = tl.maximum(row - shared, 0) * key_row
    asking = tl.program_id(1) * BQ + tl.arange(0, BQ)
    here = asking[:, None] < length
    q = tl.load(
        queries + row * query_row + asking[:, None] * query_step + column[None, :], mask=here, other=0.0
    )
    found = _recalled(q, keys + own, values + own, late_keys, late_values, column, length, scale, key_step,
                      late_step, LATE, BK)  # fmt: skip
    target = out + (row * length + asking[:, None]) * (HEADS * HEAD) + column[None, :]
    tl.store(target, found, mask=here)


@triton.jit
def look(x, gain, offset, cosine, sine, weight, bias, keys, values, late_keys, late_values, out, scale,
         shared, length, key_row, key_step, late_step, HEADS: tl.constexpr, HEAD: tl.constexpr,
         HALF: tl.constexpr, LATE: tl.constexpr, EARLY: tl.constexpr, BQ: tl.constexpr,
         BK: tl.constexpr):  # fmt: skip
    """As `attend`, from rows whose queries the program makes itself."""
    row = tl.program_id(0) // HEADS
    column = tl.program_id(0) % HEADS * HEAD + tl.arange(0, HEAD)
    low_weight = _at_once(weight, column, 2 * HALF, HALF, HALF)
    high_weight = _at_once(weight + HALF, column, 2 * HALF, HALF, HALF)
    added = tl.load(bias + column)[None, :]
    _start(EARLY)
    asking = tl.program_id(1) * BQ + tl.arange(0, BQ)
    position = asking % length
    rows = row * length + position
    q = _turned_product(x, gain, offset, cosine, sine, position, length > 0, low_weight, high_weight, rows,
                        HALF)  # fmt: skip
    q = (q + added).to(weight.dtype.element_ty)
    own = tl.maximum(row - shared, 0) * key_row
    found = _recalled(q, keys + own, values + own, late_keys, late_values, column, length, scale, key_step,
                      late_step, LATE, BK)  # fmt: skip
    target = out + (row * length + asking[:, None]) * (HEADS * HEAD) + column[None, :]
    tl.store(target, found, mask=asking[:, None] < length)


@triton.jit
def enter(noisy, weight, lead, out, count, length, K: tl.constexpr, W_STEP: tl.constexpr, N: tl.constexpr,
          EARLY: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    """A program owns BM rows by BN outputs of both branches."""
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < count) & (cols[None, :] < N)
    at_once = _at_once(weight, cols % N, W_STEP, K, BK)
    _start(EARLY)
    added = tl.load(lead + (rows // length)[:, None] * N + cols[None, :], mask=inside, other=0.0)
    found = added + _product(noisy, weight, at_once, rows % count, cols % N, K, W_STEP, K, BM, BN, BK)
    target = out + rows[:, None] * N + cols[None, :]
    tl.store(target, found, mask=inside)
    tl.store(target + count * N, found, mask=inside)


@triton.jit
def leave(hidden, weight, bias, noisy, fresh, old, follows, fade, out, slots, length, left, of_noisy,
          of_clean, to_clean, to_noise, to_fresh, GUIDE: tl.constexpr, K: tl.constexpr, N: tl.constexpr,
          LAST: tl.constexpr, EARLY: tl.constexpr,
          BT: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    """A program owns BN columns of all rows of a slot, since rows are moved as the last that has left is."""
    slot = tl.program_id(1)
    rows = tl.arange(0, BT)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    read = slot * length + rows % length
    at_once = _at_once(weight, cols % N, K, K, BK)
    added = tl.load(bias + cols % N)[None, :]
    _start(EARLY)
    deaf = _product(hidden, weight, at_once, read, cols % N, K, K, K, BT, BN, BK) + added
    read += slots * length
    heard = _product(hidden, weight, at_once, read, cols % N, K, K, K, BT, BN, BK) + added
    clean = deaf + GUIDE * (heard - deaf)
    inside = (rows[:, None] < length) & (cols[None, :] < N)
    place = (slot * length + rows[:, None]) * N + cols[None, :]
    if not LAST:
        before = tl.load(old + place, mask=inside, other=0.0)
        is_last = rows[:, None] == left - 1
        off = tl.sum(tl.where(is_last, before - clean, 0.0), 0)[None, :]
        share = tl.load(fade + rows, mask=rows < length, other=0.0)[:, None]
        led = tl.where(rows[:, None] < left, before, clean + off * share)
        clean = tl.where(tl.load(follows + slot) & (left > 0), led, clean)
        x = tl.load(noisy + place, mask=inside, other=0.0)
        z = tl.load(fresh + place, mask=inside, other=0.0)
        clean = to_clean * clean + to_noise * (of_noisy * x - clean / of_clean) + to_fresh * z
    tl.store(out + place, clean, mask=inside)
