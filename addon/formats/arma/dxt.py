"""DXT1 to DXT5: texture compression in blocks of 4 x 4 texels, as the games' textures store it.

Known from the public description of S3TC and checked on real textures. Two colors and 2 bits per texel make a color
block of 8 bytes; DXT2 to DXT5 have an alpha block of 8 bytes before it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SIDE = 4
"""Texels of a block along each side."""
_COLOUR_BLOCK = 8
_AT_A_TIME = 1 << 14
"""Blocks that are decoded or encoded together: bounds the memory for the palettes of all blocks."""
_REFINEMENTS = 2
_FOUR_COLOURS = np.array([1, 0, 2 / 3, 1 / 3], np.float32)
_THREE_COLOURS = np.array([1, 0, 1 / 2], np.float32)
"""Share of the first color in each color of a block's palette."""


def block_size(version: int) -> int:
    """Return the number of bytes of a block of DXT1 to DXT5 (``version`` 1 to 5)."""
    return _COLOUR_BLOCK if version == 1 else 2 * _COLOUR_BLOCK


def size(width: int, height: int, version: int) -> int:
    """Return the number of bytes of an image; incomplete blocks at the edges are stored whole."""
    return -(-width // SIDE) * -(-height // SIDE) * block_size(version)


def decode(data: bytes, width: int, height: int, version: int) -> NDArray[np.uint8]:
    """Return (height, width, 4) RGBA, top row first, of blocks with exactly `size` bytes.

    Divisions round to nearest. Colors of DXT2 and DXT4, which are stored multiplied by alpha, are divided by it; where
    alpha is 0 they become black.
    """
    across, down = -(-width // SIDE), -(-height // SIDE)
    blocks = np.frombuffer(data, np.uint8).reshape(across * down, block_size(version))
    texels = np.empty((len(blocks), SIDE * SIDE, 4), np.uint8)
    for start in range(0, len(blocks), _AT_A_TIME):
        _decode_blocks(blocks[start : start + _AT_A_TIME], texels[start : start + _AT_A_TIME], version)
    image = texels.reshape(down, across, SIDE, SIDE, 4).swapaxes(1, 2).reshape(SIDE * down, SIDE * across, 4)
    return np.ascontiguousarray(image[:height, :width])


def _decode_blocks(blocks: NDArray[np.uint8], texels: NDArray[np.uint8], version: int) -> None:
    """Decode blocks (n, `block_size`) into ``texels`` (n, 16, 4)."""
    _decode_colours(np.ascontiguousarray(blocks[:, -_COLOUR_BLOCK:]), texels, with_three=version == 1)
    if version in (2, 3):
        nibbles = blocks[:, :_COLOUR_BLOCK, None] >> np.array([0, 4], np.uint8) & 15
        texels[..., 3] = nibbles.reshape(len(blocks), -1) * np.uint8(17)
    elif version > 3:
        texels[..., 3] = _decode_alpha(blocks)
    if version in (2, 4):
        _divide_by_alpha(texels)


def _decode_colours(blocks: NDArray[np.uint8], texels: NDArray[np.uint8], *, with_three: bool) -> None:
    """Decode color blocks (n, 8) into ``texels`` (n, 16, 4). ``with_three``: the order of the two colors may select
    three colors and transparent black, as in DXT1 only.
    """
    ends = blocks[:, :4].copy().view("<u2").astype(np.int32)
    first, second = expand_565(ends[:, 0]), expand_565(ends[:, 1])
    palette = np.empty((len(blocks), 4, 4), np.uint8)
    palette[:, 0, :3], palette[:, 1, :3] = first, second
    palette[:, 2, :3], palette[:, 3, :3] = (2 * first + second + 1) // 3, (first + 2 * second + 1) // 3
    palette[..., 3] = 255
    if with_three:
        three = ends[:, 0] <= ends[:, 1]
        palette[three, 2, :3] = ((first + second) // 2)[three]
        palette[three, 3] = 0
    chosen = blocks[:, 4:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3
    texels[:] = np.take_along_axis(palette, chosen.reshape(len(blocks), -1, 1).astype(np.intp), axis=1)


def _decode_alpha(blocks: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return alpha (n, 16) of the alpha blocks of DXT4 and DXT5: two values, then 3 bits per texel."""
    palette = _alpha_palette(blocks[:, 0].astype(np.int32), blocks[:, 1].astype(np.int32))
    packed = np.zeros((len(blocks), 8), np.uint8)
    packed[:, :6] = blocks[:, 2:8]
    chosen = packed.view("<u8") >> np.arange(0, 48, 3, dtype=np.uint64) & np.uint64(7)
    result: NDArray[np.uint8] = np.take_along_axis(palette, chosen.astype(np.intp), axis=1)
    return result


def _alpha_palette(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return the values (n, 8) between ``first`` and ``second``: in sevenths if the first is larger, else in fifths and
    then 0 and 255.
    """
    sevenths, fifths = np.arange(1, 7), np.arange(1, 5)
    palette = np.empty((len(first), 8), np.uint8)
    palette[:, 0], palette[:, 1] = first, second
    palette[:, 2:] = (first[:, None] * (7 - sevenths) + second[:, None] * sevenths + 3) // 7
    few = first <= second
    palette[few, 2:6] = ((first[:, None] * (5 - fifths) + second[:, None] * fifths + 2) // 5)[few]
    palette[few, 6:] = 0, 255
    return palette


def _divide_by_alpha(texels: NDArray[np.uint8]) -> None:
    alpha = texels[..., 3:].astype(np.int32)
    divisor = np.maximum(alpha, 1)
    straight = np.minimum((texels[..., :3].astype(np.int32) * 255 + divisor // 2) // divisor, 255)
    texels[..., :3] = np.where(alpha > 0, straight, 0)


def expand_565(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return (n, 3) red, green, blue (0 to 255) of values (n,) with 5, 6 and 5 bits, red highest."""
    red, green, blue = values >> 11 & 31, values >> 5 & 63, values & 31
    result: NDArray[np.int32] = np.stack([red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2], axis=-1)
    return result


# Encoding -----------------------------------------------------------------------------------------------------------


def blocks_of(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the blocks (n, 16, 4) of an image (height, width, 4) in their stored order. Edges are repeated."""
    height, width, _ = image.shape
    padded = np.pad(image, ((0, -height % SIDE), (0, -width % SIDE), (0, 0)), mode="edge")
    down, across = padded.shape[0] // SIDE, padded.shape[1] // SIDE
    return padded.reshape(down, SIDE, across, SIDE, 4).swapaxes(1, 2).reshape(-1, SIDE * SIDE, 4)


def encode(blocks: NDArray[np.uint8], version: int, *, see_through: bool) -> NDArray[np.uint8]:
    """Return the bytes (n, `block_size`) of blocks (n, 16, 4) RGBA as DXT1 or DXT5.

    DXT1 stores alpha below 128 as transparent black. The two colors are on the main axis of a block's colors and are
    refined by least squares. ``see_through``: the colors of texels with alpha 0 are not seen and do not influence them.
    """
    result = np.empty((len(blocks), block_size(version)), np.uint8)
    for start in range(0, len(blocks), _AT_A_TIME):
        part, target = blocks[start : start + _AT_A_TIME], result[start : start + _AT_A_TIME]
        target[:, -_COLOUR_BLOCK:] = _encode_colours(part, see_through=see_through, with_three=version == 1)
        if version != 1:
            target[:, :_COLOUR_BLOCK] = _encode_alpha(part[..., 3])
    return result


def _encode_colours(blocks: NDArray[np.uint8], *, see_through: bool, with_three: bool) -> NDArray[np.uint8]:
    """Return color blocks (n, 8). ``with_three``: blocks with transparent texels are stored with three colors."""
    colours = blocks[..., :3].astype(np.float32)
    least = 128 if with_three else 1 if see_through else 0
    hidden = blocks[..., 3] < least
    seen = (~hidden | hidden.all(axis=1, keepdims=True)).astype(np.float32)
    three = hidden.any(axis=1) if with_three else np.zeros(len(blocks), np.bool_)
    ends = _quantised(_ends_on_axis(colours, seen))
    result = np.zeros((len(blocks), _COLOUR_BLOCK), np.uint8)
    for chosen, shares in ((~three, _FOUR_COLOURS), (three, _THREE_COLOURS)):
        if chosen.any():
            result[chosen] = _fitted(colours[chosen], seen[chosen], hidden[chosen], ends[chosen], shares)
    return result


def _ends_on_axis(colours: Floats, seen: Floats) -> Floats:
    """Return (n, 2, 3): the outermost points of each block's seen colors (n, 16, 3) on their main axis."""
    mean = np.einsum("bt,btc->bc", seen, colours) / seen.sum(axis=1)[:, None]
    offsets = (colours - mean[:, None]) * seen[..., None]
    covariance = np.einsum("btc,btd->bcd", offsets, offsets)
    axis = np.take_along_axis(covariance, covariance.sum(axis=2).argmax(axis=1)[:, None, None], axis=1)[:, 0]
    for _ in range(8):  # power iteration: converges to the axis of the largest variance
        axis = np.einsum("bcd,bd->bc", covariance, axis)
        axis /= np.maximum(np.abs(axis).max(axis=1, keepdims=True), np.float32(1e-12))
    axis /= np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), np.float32(1e-12))
    along = np.einsum("btc,bc->bt", offsets, axis)
    outermost = np.stack([along.max(axis=1), along.min(axis=1)], axis=1)
    ends: Floats = mean[:, None] + outermost[..., None] * axis[:, None]
    return ends


_STEPS = np.array([31, 63, 31], np.float32)


def _quantised(ends: Floats) -> NDArray[np.int32]:
    """Return the nearest values with 5, 6 and 5 bits (n, 2) of colors (n, 2, 3)."""
    levels = np.rint(np.clip(ends, 0, 255) * (_STEPS / 255)).astype(np.int32)
    return levels[..., 0] << 11 | levels[..., 1] << 5 | levels[..., 2]


def _fitted(
    colours: Floats, seen: Floats, hidden: NDArray[np.bool_], ends: NDArray[np.int32], shares: Floats
) -> NDArray[np.uint8]:
    """Return color blocks of ``colours`` (n, 16, 3): those of ``ends`` (n, 2), or of better ones by least squares."""
    best_ends, (chosen, error) = ends, _nearest(colours, seen, ends, shares)
    for _ in range(_REFINEMENTS):
        better = _quantised(_least_squares(colours, seen, shares[chosen], best_ends))
        nearest, found_error = _nearest(colours, seen, better, shares)
        wins = found_error < error
        best_ends = np.where(wins[:, None], better, best_ends)
        chosen, error = np.where(wins[:, None], nearest, chosen), np.where(wins, found_error, error)
    # The order of the two colors tells how many colors a block has.
    four = len(shares) == len(_FOUR_COLOURS)
    swapped = best_ends[:, 0] < best_ends[:, 1] if four else best_ends[:, 0] > best_ends[:, 1]
    best_ends = np.where(swapped[:, None], best_ends[:, ::-1], best_ends)
    exchanged = chosen ^ 1 if four else np.where(chosen < 2, chosen ^ 1, chosen)
    chosen = np.where(swapped[:, None], exchanged, chosen)
    # Two equal colors select three colors, whose fourth is transparent.
    is_plain = (best_ends[:, 0] == best_ends[:, 1])[:, None]
    chosen = np.where(is_plain, 0, chosen) if four else np.where(hidden, 3, chosen)
    result = np.empty((len(colours), _COLOUR_BLOCK), np.uint8)
    result[:, :4] = best_ends.astype("<u2").view(np.uint8)
    result[:, 4:] = (chosen.reshape(-1, 4, 4) << np.array([0, 2, 4, 6])).sum(axis=2)
    return result


def _nearest(colours: Floats, seen: Floats, ends: NDArray[np.int32], shares: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return for each texel the nearest color of the palette between ``ends``, and each block's squared error."""
    wide = expand_565(ends).astype(np.float32)
    palette = wide[:, :1] * shares[:, None] + wide[:, 1:] * (1 - shares[:, None])
    distances = ((colours[:, :, None] - palette[:, None]) ** 2).sum(axis=3)
    chosen = distances.argmin(axis=2)
    return chosen, (np.take_along_axis(distances, chosen[..., None], axis=2)[..., 0] * seen).sum(axis=1)


def _least_squares(colours: Floats, seen: Floats, share: Floats, ends: NDArray[np.int32]) -> Floats:
    """Return the two colors (n, 2, 3) that are best if each texel has ``share`` (n, 16) of the first one; the present
    ones where the texels do not determine both.
    """
    rest = 1 - share
    a, b, c = ((seen * first * two).sum(axis=1) for first, two in ((share, share), (share, rest), (rest, rest)))
    determinant = a * c - b * b
    first = np.einsum("bt,btc->bc", seen * share, colours)
    second = np.einsum("bt,btc->bc", seen * rest, colours)
    safe = np.where(determinant > 1e-3, determinant, 1)[:, None]
    solved = np.stack(
        [(c[:, None] * first - b[:, None] * second) / safe, (a[:, None] * second - b[:, None] * first) / safe], axis=1
    )
    present = expand_565(ends).astype(np.float32)
    result: Floats = np.where((determinant > 1e-3)[:, None, None], solved, present)
    return result


def _encode_alpha(alpha: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return alpha blocks (n, 8) of alpha (n, 16): eight even steps, or six and the values 0 and 255, whichever is
    nearer.
    """
    values = alpha.astype(np.int32)
    inner = (values > 0) & (values < 255)
    lowest = np.where(inner, values, 255).min(axis=1)
    highest = np.where(inner, values, 0).max(axis=1)
    empty = ~inner.any(axis=1)
    lowest, highest = np.where(empty, 0, lowest), np.where(empty, 0, highest)
    even, even_error = _alpha_between(values, values.max(axis=1), values.min(axis=1))
    fewer, fewer_error = _alpha_between(values, lowest, highest)
    return np.where((fewer_error < even_error)[:, None], fewer, even)


def _alpha_between(
    values: NDArray[np.int32], first: NDArray[np.int32], second: NDArray[np.int32]
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return alpha blocks (n, 8) of ``values`` (n, 16) with these two values, and their squared errors."""
    palette = _alpha_palette(first, second).astype(np.int32)
    distances = np.abs(values[:, :, None] - palette[:, None])
    indices = distances.argmin(axis=2).astype(np.uint64)
    packed = (indices << np.arange(0, 48, 3, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    ends = np.stack([first, second], axis=1).astype(np.uint8)
    blocks = np.concatenate([ends, packed.astype("<u8")[:, None].view(np.uint8)[:, :6]], axis=1)
    return blocks, (distances.min(axis=2) ** 2).sum(axis=1)
