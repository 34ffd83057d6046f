"""Starting terrains: fractal ground, test shapes and the papers' initial height fields."""

from slopewash.generators import diamond_square, noise, scenes, shapes  # noqa: F401  (each registers its generators)
from slopewash.generators.extent import EXTENT
from slopewash.generators.registry import (
    GeneratorOption,
    describe_generator,
    generate,
    generator_names,
    generator_options,
)
from slopewash.generators.strata import strata_bands

__all__ = [
    "EXTENT",
    "GeneratorOption",
    "describe_generator",
    "generate",
    "generator_names",
    "generator_options",
    "strata_bands",
]
