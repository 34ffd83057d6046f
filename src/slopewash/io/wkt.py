"""The little that must be known of a CRS without a library: whether it is in degrees, and its units of length.

Well-known text is a tree, `KEYWORD["name", ..., CHILD[...]]`, in version 1 (PROJCS, UNIT) and 2 (PROJCRS, LENGTHUNIT).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from slopewash.io.units import metres_per

_TOKEN = re.compile(r'\s*("(?:[^"]|"")*"|[A-Za-z_][A-Za-z0-9_]*|[-+0-9.eE]+|[\[\](),])')
_ROOTS = (
    "PROJCS", "PROJCRS", "PROJECTEDCRS", "GEOGCS", "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS", "GEODETICCRS", "GEOCCS",
    "COMPD_CS", "COMPOUNDCRS", "LOCAL_CS", "ENGCRS", "ENGINEERINGCRS", "BOUNDCRS",
)  # fmt: skip
_GEOGRAPHIC = ("GEOGCS", "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS", "GEODETICCRS")
_VERTICAL = ("VERT_CS", "VERTCS", "VERTCRS", "VERTICALCRS")
_UNITS = ("UNIT", "LENGTHUNIT")
_DEEPEST = 64


@dataclass
class Node:
    """One `KEYWORD[...]`: its numbers and texts, and the nodes inside."""

    keyword: str
    values: list[str] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    def child(self, *keywords: str) -> Node | None:
        """First node inside with one of these keywords."""
        return next((node for node in self.children if node.keyword in keywords), None)

    def unit(self) -> float | None:
        """Metres per unit of this CRS: its own, or that of its axes."""
        found = self.child(*_UNITS)
        if found is None:
            axis = self.child("AXIS")
            found = None if axis is None else axis.child(*_UNITS)
        try:
            # The name first: the number is rounded to 15 digits.
            return None if found is None else metres_per(found.values[0]) or float(found.values[1])
        except (IndexError, ValueError):
            return None


def parse(text: str) -> Node | None:
    """Return the tree of a well-known text, or None for any other text.

    >>> parse('PROJCS["x",UNIT["foot",0.3048]]').unit(), parse("EPSG:32611")
    (0.3048, None)
    """
    tree = _tree(text)
    return None if tree is None else tree.children[0]


def _tree(text: str) -> Node | None:
    """Node around everything in a text, or None if that is no well-known text."""
    if not text.lstrip().upper().startswith(_ROOTS):
        return None
    root = Node("")
    open_nodes, keyword = [root], ""
    for token in _TOKEN.findall(text):
        if token in "[(":
            node = Node(keyword.upper())
            open_nodes[-1].children.append(node)
            open_nodes.append(node)
            keyword = ""
        elif token in "]),":
            if keyword:  # a word that stands for a value, such as UP
                open_nodes[-1].values.append(keyword.upper())
                keyword = ""
            if token != ",":
                open_nodes.pop()
        elif token[0] == '"':
            open_nodes[-1].values.append(token[1:-1])
        elif token[0].isalpha() or token[0] == "_":
            keyword = token
        else:
            open_nodes[-1].values.append(token)
        if not 0 < len(open_nodes) <= _DEEPEST:
            return None
    return root if root.children else None


def is_geographic(text: str) -> bool:
    """Whether coordinates are longitude and latitude.

    >>> is_geographic('GEOGCS["WGS 84"]'), is_geographic('PROJCS["x",GEOGCS["WGS 84"]]')
    (True, False)
    """
    node = _horizontal(text)
    return node is not None and node.keyword in _GEOGRAPHIC


def horizontal_unit(text: str) -> float | None:
    """Metres per unit of easting and northing, or None if the text does not give it."""
    node = _horizontal(text)
    return None if node is None or node.keyword in _GEOGRAPHIC else node.unit()


def vertical_unit(text: str) -> float | None:
    """Metres per unit of height, or None for a CRS without heights.

    >>> vertical_unit('COMPD_CS["x",PROJCS["p",UNIT["metre",1]],VERT_CS["v",UNIT["foot",0.3048]]]')
    0.3048

    Esri's text has it behind that of easting and northing, not around both.

    >>> vertical_unit('PROJCS["p",UNIT["Meter",1.0]],VERTCS["v",UNIT["Foot",0.3048]]')
    0.3048
    """
    vertical = _vertical(text)
    return None if vertical is None else vertical.unit()


def counts_downwards(text: str) -> bool:
    """Whether the CRS has depths instead of heights.

    >>> counts_downwards('COMPD_CS["x",PROJCS["p"],VERT_CS["MSL depth",UNIT["metre",1],AXIS["Depth",DOWN]]]')
    True

    Esri's text gives a factor instead of the direction of an axis.

    >>> counts_downwards('PROJCS["p"],VERTCS["MSL",PARAMETER["Direction",-1.0],UNIT["Meter",1.0]]')
    True
    """
    vertical = _vertical(text)
    if vertical is None:
        return False
    axis = vertical.child("AXIS")
    if axis is not None and "DOWN" in axis.values[1:]:
        return True
    factors = [node.values for node in vertical.children if node.keyword == "PARAMETER"]
    return any(values[0].lower() == "direction" and values[1].startswith("-") for values in factors if len(values) > 1)


def _vertical(text: str) -> Node | None:
    tree = _tree(text)
    around = None if tree is None else tree.children[0]
    return None if tree is None or around is None else around.child(*_VERTICAL) or tree.child(*_VERTICAL)


def is_compound(text: str) -> bool:
    """Whether the CRS has heights of its own."""
    root = parse(text)
    return root is not None and root.keyword in ("COMPD_CS", "COMPOUNDCRS")


def _horizontal(text: str) -> Node | None:
    node = parse(text)
    if node is not None and node.keyword in ("COMPD_CS", "COMPOUNDCRS"):
        return next((child for child in node.children if child.keyword in _ROOTS), None)
    return node
