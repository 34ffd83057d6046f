"""Objects between the server and the process of the run, in both directions, without waiting for the other side."""

from __future__ import annotations

import pickle
import queue
import struct
import threading
import time
import traceback
from collections.abc import Callable
from io import FileIO
from typing import Any

import numpy as np

Then = Callable[[float], None]
Otherwise = Callable[[Exception], None]

_COUNTS = struct.Struct("<QI")
_LENGTH = struct.Struct("<Q")


class Pipe:
    """Sends objects in a thread of its own, so that a side that does not read holds nobody up.

    Arrays are written as they are: they must not change any more.
    """

    def __init__(self, source: FileIO, target: FileIO) -> None:
        self._source, self._target = source, target
        self._waiting: queue.SimpleQueue[tuple[Any, Then | None, Otherwise | None] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_all, name="slopewash-pipe", daemon=True)
        self._writer.start()

    def send(self, item: Any, then: Then | None = None, otherwise: Otherwise | None = None) -> None:
        """Send an object soon; if the other side has ended, drop it.

        `then` is called with the CPU seconds that it took, `otherwise` with why it cannot be sent, both in the
        writer's thread.
        """
        self._waiting.put((item, then, otherwise))

    def receive(self) -> Any:
        """The next object; raises `EOFError` if the other side has ended."""
        length, buffers = _COUNTS.unpack(self._read(_COUNTS.size))
        sizes = [_LENGTH.unpack(self._read(_LENGTH.size))[0] for _ in range(buffers)]
        head = self._read(length)
        return pickle.loads(head, buffers=[self._read(size) for size in sizes])

    def finish(self) -> None:
        """Return when everything is sent."""
        self._waiting.put(None)
        self._writer.join()

    def close(self) -> None:
        """End the writer, and close both ends."""
        self.finish()
        self._source.close()
        self._target.close()

    def _write_all(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            item, then, otherwise = waiting
            begin = time.thread_time()
            try:
                parts = _packed(item)
            except Exception as error:  # nothing of it is written yet: what waits behind it can be sent
                if otherwise is None:
                    traceback.print_exc()
                else:
                    otherwise(error)
                continue
            try:
                for part in parts:
                    self._write(part)
            except OSError:  # nobody reads any more, which `receive` reports
                continue
            if then is not None:
                then(time.thread_time() - begin)

    def _write(self, data: memoryview) -> None:
        while data.nbytes:
            data = data[self._target.write(data) :]

    def _read(self, size: int) -> memoryview:
        view = data = np.empty(size, np.uint8).data  # unlike a bytearray, it is not filled with zeros first
        while view.nbytes:
            count = self._source.readinto(view)
            if not count:
                raise EOFError("the other side of the pipe has ended")
            view = view[count:]
        return data


def _packed(item: Any) -> list[memoryview]:
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(item, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    counts = _COUNTS.pack(len(head), len(arrays)) + b"".join(_LENGTH.pack(array.nbytes) for array in arrays)
    return [memoryview(counts), memoryview(head), *arrays]
