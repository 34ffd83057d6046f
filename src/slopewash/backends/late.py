"""Kernels that are compiled on their own, at the moment another kernel first calls them.

Numba copies the code of every kernel into its callers and optimises it again at each level: a row function that four
levels of callers use is compiled five times, and one that a run never reaches as often. A late kernel is called through
a pointer instead. The pointer stands in the caller's own code, empty at first; the call that finds it so has Python
compile the kernel, or load it from the cache on disk. This suits functions that work through a row or more: a call
costs a few nanoseconds and cannot be inlined.
"""

# mypy: disable-error-code="no-untyped-call"
# Numba's own parts have no types.

from __future__ import annotations

import _thread
import base64
import ctypes
import functools
import importlib
import inspect
import pickle
import threading
import traceback
from collections.abc import Callable
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from slopewash.backends import row_calls

SYMBOL = "slopewash_late_kernel"
STACK = 64 << 20
"""Bytes of stack for the compiler: a call may come from one of Numba's threads, which have little."""


class LateKernel:
    """A compiled function without a result that other kernels call through a pointer."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside
        self.__name__, self.__doc__ = inside.__name__, inside.__doc__
        self.__wrapped__ = inside.py_func
        type_callable(self)(self._type_call)
        lower_builtin(self, types.VarArg(types.Any))(self._lower_call)

    @property
    def dispatcher(self) -> Any:
        """What Python calls."""
        return self.inside

    def __call__(self, *arguments: Any) -> None:
        """Call it from Python."""
        self.dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name == "_numba_type_" or name.startswith("__"):  # with the first, Numba would copy the dispatcher's code
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def address(self, arguments: tuple[Any, ...]) -> int:
        """Where the code for these types of arguments is; compiles it if there is none."""
        result = self.inside.get_compile_result(types.none(*arguments))
        if result.signature.return_type != types.none:
            raise TypeError(f"{self.__name__} returns a value, which is lost when it is called late")
        return int(result.library.get_pointer_to_function(self._entry(result.fndesc)))

    def _entry(self, function: Any) -> str:
        return str(function.llvm_func_name)

    def _call(self, context: Any, builder: Any, address: Any, kinds: Any, values: Any) -> None:
        entry = context.call_conv.get_function_type(types.none, kinds).as_pointer()
        status, _ = context.call_conv.call_function(
            builder, builder.bitcast(address, entry), types.none, kinds, values
        )  # fmt: skip
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)

    def _type_call(self, context: Any) -> Callable[..., Any]:
        def typer(*arguments: Any) -> Any:
            return types.none(*(types.unliteral(a) for a in arguments))

        typer.pysig = inspect.signature(self.__wrapped__)  # type: ignore[attr-defined]
        return typer

    def _lower_call(self, context: Any, builder: Any, signature: Any, values: Any) -> Any:
        """Load the pointer, have it filled if it is empty, and call."""
        module, byte_pointer = builder.module, ir.IntType(8).as_pointer()
        wanted = (self.__wrapped__.__module__, self.__name__, signature.args)
        key = base64.b64encode(pickle.dumps(wanted))
        slot = cgutils.add_global_variable(module, byte_pointer, f"late_{self.__name__}")
        slot.linkage, slot.initializer = "internal", ir.Constant(byte_pointer, None)
        filled = cgutils.is_not_null(builder, builder.load(slot))
        with cgutils.if_unlikely(builder, builder.not_(filled)):
            find = cgutils.get_or_insert_function(module, ir.FunctionType(byte_pointer, [byte_pointer]), SYMBOL)
            text = context.insert_const_string(module, key.decode())
            builder.store(builder.call(find, [text]), slot)
            with cgutils.if_unlikely(builder, cgutils.is_null(builder, builder.load(slot))):
                context.call_conv.return_user_exc(builder, RuntimeError, (f"{self.__name__} could not be compiled",))
        self._call(context, builder, builder.load(slot), signature.args, values)
        return context.get_dummy_value()


class LateRow(LateKernel):
    """A function of rows; `inside` is the same without what calls from Python need, which is as much code as a loop."""

    def __init__(self, inside: Any, make_dispatcher: Callable[[], Any]) -> None:
        self._make_dispatcher = make_dispatcher
        super().__init__(inside)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """What Python calls; runs never do, so it is made when it is asked for."""
        return self._make_dispatcher()

    def _entry(self, function: Any) -> str:
        return str(function.llvm_cfunc_wrapper_name)

    def _call(self, context: Any, builder: Any, address: Any, kinds: Any, values: Any) -> None:
        row_calls.call(context, builder, address, kinds, values)


_starting = threading.Lock()
"""The size of stacks is one for the whole process."""
_failed: list[str] = []
"""Kernels that could not be compiled since `check_compiled` was last asked."""


def check_compiled() -> None:
    """Raise if a kernel that was called could not be compiled: Numba drops what its own threads raise."""
    if _failed:
        name = _failed[0]
        _failed.clear()
        raise RuntimeError(f"{name} could not be compiled")


def _find(key: bytes) -> int:
    """Address of a kernel; 0 after an error, which has been printed, because nothing can be raised through the caller.

    Ctrl-C meanwhile interrupts the program when the kernel is compiled.
    """
    found: list[int] = []
    try:
        compiling = threading.Thread(target=lambda: found.append(_compile(key)), name="compiling", daemon=True)
        try:
            _start(compiling)
        except RuntimeError:  # no more threads: the stack of this one may do
            return _compile(key)
        interrupted = False
        while not found:
            try:
                compiling.join()
            except KeyboardInterrupt:
                interrupted = True
        if interrupted:
            _thread.interrupt_main()
        return found[0]
    except BaseException:  # what a callback raises would come back as an address
        traceback.print_exc()
        _failed.append("a kernel")
        return 0


def _start(compiling: threading.Thread) -> None:
    with _starting:
        usual = threading.stack_size(STACK)
        try:
            compiling.start()
        finally:
            threading.stack_size(usual)


def _compile(key: bytes) -> int:
    module, name, arguments = pickle.loads(base64.b64decode(key))
    try:
        kernel: LateKernel = getattr(importlib.import_module(module), name)
        return kernel.address(arguments)
    except BaseException:
        traceback.print_exc()
        _failed.append(name)
        return 0


_callback = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)(_find)
llvmlite.binding.add_symbol(SYMBOL, ctypes.cast(_callback, ctypes.c_void_p).value)
