"""Kernels that only ever become part of others: compiled no further than what their callers copy.

Numba prepares every compiled function to be run: it optimises it, writes machine code and makes it callable from
Python. For a function that is inlined wherever it is used all of that is thrown away.
"""

# mypy: disable-error-code="no-untyped-call"
# Numba's own parts have no types.

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class IngredientCode(JITCodeLibrary):
    """Code to link into other libraries, which optimise it, and never to run."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class IngredientLowering(NativeLowering):
    """Makes no executable; the entry point only distinguishes the signatures of a function."""

    _name = "ingredient_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower to code for linking."""
        state.library = IngredientCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = True
        super().run_pass(state)
        entry_point = object().__reduce__  # Numba wants a function in C, different from every other
        state.library._ensure_finalized()
        state.cr = state.cr._replace(cfunc=entry_point)
        state.targetctx.insert_user_function(entry_point, state.cr.fndesc, [state.library])
        return True


class Ingredient(Compiler):
    """Numba's usual passes, but for the last."""

    def define_pipelines(self) -> Any:
        """Replace the pass that makes an executable."""
        return with_lowering(super().define_pipelines(), IngredientLowering)


def with_lowering(pipelines: list[Any], lowering: Any) -> list[Any]:
    """Exchange the pass that writes code."""
    for pipeline in pipelines:
        pipeline.passes = [(lowering if p is NativeLowering else p, text) for p, text in pipeline.passes]
        pipeline._finalized = False
        pipeline.finalize()
    return pipelines
