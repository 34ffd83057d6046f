"""The live 3-D studio: a server on this machine and the page it serves."""

from slopewash.errors import SlopewashError

try:
    import pydantic  # noqa: F401
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
    import websockets  # noqa: F401
except ImportError as error:
    raise SlopewashError(f'the studio needs the studio extra ({error}): pip install "slopewash[studio]"') from None

from slopewash.studio.notebook import view
from slopewash.studio.opening import studio
from slopewash.studio.server import StudioServer

__all__ = ["StudioServer", "studio", "view"]
