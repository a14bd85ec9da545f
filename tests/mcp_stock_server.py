"""A small MCP server over stdio: a stock, with every kind of answer that a tool may give."""

import os
import sys
from pathlib import Path

from mcp.server.fastmcp import FastMCP, Image
from mcp.types import ToolAnnotations

server = FastMCP("stock", log_level="ERROR")
READS = ToolAnnotations(readOnlyHint=True)
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d494844520000000100000001080600000"
    "01f15c4890000000a49444154789c6300010000050001"
)


@server.tool(annotations=READS)
def stock(item: str) -> dict[str, int | str]:
    """How many of an item are in stock."""
    return {"item": item, "stock": 3}


@server.tool(annotations=READS)
def shelves(item: str) -> list[dict[str, str]]:
    """The shelves of an item."""
    return [] if item == "none" else [{"shelf": "A1"}, {"shelf": "B2"}]


@server.tool(annotations=READS)
def picture(item: str) -> Image:
    """A picture of an item."""
    del item
    return Image(data=PIXEL, format="png")


@server.tool(annotations=ToolAnnotations(readOnlyHint=False, idempotentHint=True))
def rename(item: str, name: str) -> str:
    """Give an item another name."""
    return f"{item} is now called {name}"


@server.tool(annotations=ToolAnnotations(readOnlyHint=False))
def order(item: str, amount: int) -> str:
    """Order more of an item."""
    with Path(sys.argv[1]).open("a", encoding="utf-8") as ledger:
        ledger.write(f"{item} {amount}\n")
    if amount > 100:
        raise ValueError(f"{amount} is more than the shelf holds")
    return f"ordered {amount} of {item}"


@server.tool(name="stock.count")
def count() -> int:
    """How many items there are."""
    return 42


@server.tool(annotations=READS)
def crash(item: str) -> str:
    """Takes the server down."""
    os._exit(1)


if __name__ == "__main__":
    server.run()
