"""How a kernel calls a row function: with a pointer and a length for each row.

Numba passes seven words for an array, so that calling a function of two dozen rows costs as much as many cells. The
entry made here takes two, and has the function itself inlined.
"""

# mypy: disable-error-code="no-untyped-call"
# Numba's own parts have no types.

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.np import arrayobj


def is_row(kind: Any) -> bool:
    """Whether an argument is passed as a pointer and a length."""
    return isinstance(kind, types.Array) and kind.ndim == 1 and kind.layout == "C"


def entry_type(context: Any, kinds: Any) -> Any:
    """Type of the entry of a function of such arguments."""
    words: list[Any] = []
    for kind in kinds:
        if is_row(kind):
            words += [context.get_data_type(kind.dtype).as_pointer(), context.get_value_type(types.intp)]
        else:
            words += context.call_conv._get_arg_packer([kind]).argument_types
    return ir.FunctionType(ir.VoidType(), words)


def pack(context: Any, builder: Any, kinds: Any, values: Any) -> list[Any]:
    """Turn arguments into what the entry takes."""
    words: list[Any] = []
    for kind, value in zip(kinds, values, strict=True):
        if is_row(kind):
            row = arrayobj.make_array(kind)(context, builder, value)
            words += [row.data, builder.extract_value(row.shape, 0)]
        else:
            words += context.call_conv._get_arg_packer([kind]).as_arguments(builder, [value])
    return words


def unpack(context: Any, builder: Any, kinds: Any, words: Any) -> list[Any]:
    """Turn what the entry takes into arguments."""
    values: list[Any] = []
    place = 0
    for kind in kinds:
        if is_row(kind):
            itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
            row = arrayobj.make_array(kind)(context, builder)
            arrayobj.populate_array(
                row, data=words[place], shape=[words[place + 1]], strides=[itemsize], itemsize=itemsize, meminfo=None
            )
            values.append(row._getvalue())
            place += 2
        else:
            packer = context.call_conv._get_arg_packer([kind])
            count = len(packer.argument_types)
            values += packer.from_arguments(builder, words[place : place + count])
            place += count
    return values


class LowerRow(Lower):
    """Adds the entry where Numba would add one for C."""

    def create_cfunc_wrapper(self) -> None:
        """Make the entry; rows do not alias each other if written."""
        context, kinds = self.context, self.fndesc.argtypes
        module = self.library.create_ir_module("row_entry")
        function = ir.Function(
            module, context.call_conv.get_function_type(self.fndesc.restype, kinds), self.fndesc.llvm_func_name
        )
        entry = ir.Function(module, entry_type(context, kinds), self.fndesc.llvm_cfunc_wrapper_name)
        for word in entry.args:
            if isinstance(word.type, ir.PointerType):
                word.add_attribute("noalias")
        builder = ir.IRBuilder(entry.append_basic_block("entry"))
        values = unpack(context, builder, kinds, entry.args)
        context.call_conv.call_function(
            builder, function, self.fndesc.restype, kinds, values, attrs=("alwaysinline",)
        )  # fmt: skip
        builder.ret_void()
        self.library.add_ir_module(module)


@register_pass(mutates_CFG=True, analysis_only=False)
class RowLowering(NativeLowering):
    """Numba's usual pass, with another entry."""

    _name = "row_lowering"

    @property
    def lowering_class(self) -> Any:
        """What lowers a function."""
        return LowerRow


def call(context: Any, builder: Any, address: Any, kinds: Any, values: Any) -> None:
    """Call the entry at an address."""
    entry = builder.bitcast(address, entry_type(context, kinds).as_pointer())
    builder.call(entry, pack(context, builder, kinds, values))
