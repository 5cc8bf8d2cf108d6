"""How far apart two colours are for people who see all colours, and for those who lack one kind of cone.

The matrices are those of Machado, Oliveira and Fernandes (2009) for a complete lack, applied to linear light; the
difference is the distance in CIE L*a*b* (CIE 1976, D65).
"""

from __future__ import annotations

from typing import Final

SIGHTS: Final = ("full", "protan", "deutan", "tritan")
"""All cones; without those for red, for green, for blue."""

_SEEN: Final = {
    "full": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protan": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip


def difference(one: str, other: str, sight: str) -> float:
    """The distance of two colours given as ``#rrggbb``: 0 for the same one, about 100 from black to white."""
    squares = [(left - right) ** 2 for left, right in zip(_lab(one, sight), _lab(other, sight), strict=True)]
    return float(sum(squares) ** 0.5)


def _lab(colour: str, sight: str) -> tuple[float, float, float]:
    light = [_linear(int(colour[start : start + 2], 16) / 255) for start in (1, 3, 5)]
    red, green, blue = (
        min(1.0, max(0.0, sum(weight * part for weight, part in zip(row, light, strict=True)))) for row in _SEEN[sight]
    )
    x = _root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047)
    y = _root(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    z = _root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _root(value: float) -> float:
    return float(value ** (1 / 3)) if value > 0.008856 else 7.787 * value + 16 / 116
