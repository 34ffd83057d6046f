"""Kernel that numbers connected ground."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopewash.backends.compiled import kernel, stage_kernel

Labels = NDArray[np.int32]


def labelled(low: NDArray[np.bool_], *, diagonally: bool) -> Labels:
    """Number the connected parts of low ground from 1; other ground is 0.

    >>> labelled(np.array([[True, False, True], [False, True, False]]), diagonally=False).tolist()
    [[1, 0, 2], [0, 3, 0]]
    >>> labelled(np.array([[True, False, True], [False, True, False]]), diagonally=True).tolist()
    [[1, 0, 1], [0, 1, 0]]
    """
    labels: Labels = np.zeros(low.shape, np.int32)
    label(np.ascontiguousarray(low), diagonally, np.empty(low.size + 1, np.int32), labels)
    return labels


@stage_kernel
def root_of(parent, one):
    """First of the numbers that are known to be one part, with shorter ways for the next who asks."""
    while parent[one] != one:
        parent[one] = parent[parent[one]]
        one = parent[one]
    return one


@stage_kernel
def joined(parent, one, other):
    """Make two numbers one part, if both are numbers; returns the smaller."""
    if one == 0:
        return other
    if other == 0:
        return one
    a, b = root_of(parent, one), root_of(parent, other)
    if a < b:
        parent[b] = a
        return a
    parent[a] = b
    return b


@kernel
def label(low, diagonally, parent, labels):
    """Number cells row by row, note which numbers are one part, then give each part the next number."""
    rows, columns = low.shape
    count = 0
    for y in range(rows):
        for x in range(columns):
            if not low[y, x]:
                continue
            near = labels[y, x - 1] if x > 0 else 0
            if y > 0:
                near = joined(parent, near, labels[y - 1, x])
                if diagonally:
                    if x > 0:
                        near = joined(parent, near, labels[y - 1, x - 1])
                    if x + 1 < columns:
                        near = joined(parent, near, labels[y - 1, x + 1])
            if near == 0:
                count += 1
                parent[count] = count
                near = count
            labels[y, x] = near
    parts = 0
    for number in range(1, count + 1):  # a root comes before all that lead to it
        if parent[number] == number:
            parts += 1
            parent[number] = -parts
        else:
            parent[number] = parent[root_before(parent, number)]
    for y in range(rows):
        for x in range(columns):
            if labels[y, x] > 0:
                labels[y, x] = -parent[labels[y, x]]


@stage_kernel
def root_before(parent, number):
    """Any number on the way to the root that already has its part."""
    one = parent[number]
    while parent[one] > 0:
        one = parent[one]
    return one
