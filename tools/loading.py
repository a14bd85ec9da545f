"""From what a user names to tools: the demo shop, a module, a file, a name in either."""

import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TypeGuard, cast

from langchain_core.tools import BaseTool
from langchain_core.tools import tool as as_tool

from hansei.policies.errors import UserError
from hansei.tools.declared import Effect, check_tools, tool_effect, tool_is_volatile
from hansei.tools.mcp_servers import load_mcp_tools
from hansei.tools.shop import shop_tools

__all__ = ["Effect", "check_tools", "load_tools", "tool_effect", "tool_is_volatile"]

SHOP = "shop"
"""The spec that means the demo shop; a user's own module `shop` is reached as "shop:name"."""

MCP = "mcp:"
"""Before the name of a file with MCP servers."""

LONGEST_CAUSE = 200
"""Characters of somebody else's error that are repeated in ours, to keep it one sentence."""

_TOOLS_RETURNED = re.compile(r".*Tools?\b.*|(?:typing\.)?(?:Any|List|Tuple|Sequence)|list|tuple")
"""Annotations of a function that makes tools: one that names a tool class, or leaves open
what is in the list. Read as text, so it works where an annotation cannot be resolved."""


def load_tools(spec: str) -> list[BaseTool]:
    """Load the tools that a text names.

    A function without required arguments is called for the tools it returns, unless its
    annotation says that it returns something else; then it is a tool itself.

    Args:
        spec: One of these, or several with commas between them:

            - `shop`: the demo shop, in memory.
            - `module:name` or `path/to/file.py:name`: a tool, a list or tuple of tools, a
              function with annotations (it becomes a tool), or a callable without
              required arguments that returns tools.
            - `mcp:servers.json`: the tools of the MCP servers in the file (extra `mcp`).
            - `module` or `path/to/file.py`: every tool in it; functions are not taken.

            The current directory is put on `sys.path` for a module, and the file's
            directory for a file, as Python does when it runs one.

    Returns:
        The tools in the order in which they were named, checked by `check_tools`.

    Raises:
        UserError: A module, file or name does not exist, a module fails on import, there
            are no tools in it, or `check_tools` refuses what was found.
        OperatorError: An MCP server cannot be started or reached.
    """
    parts = list(dict.fromkeys(part.strip() for part in spec.split(",") if part.strip()))
    if not parts:
        raise UserError('No tools are named; say "shop", "module:name" or "path/to/file.py:name".')
    modules: dict[str, ModuleType] = {}
    found = [each for part in parts for each in _load_part(part, modules)]
    # The same object reached by two specs is not two tools of one name.
    tools = list({id(each): each for each in found}.values())
    check_tools(tools)
    return tools


def _load_part(part: str, modules: dict[str, ModuleType]) -> list[BaseTool]:
    """Load one spec without commas; a module already loaded for this call is not run again."""
    if part == SHOP:
        return shop_tools()
    if part.startswith(MCP):
        return load_mcp_tools(part.removeprefix(MCP))
    target, name = _split(part)
    if target not in modules:
        load = _load_file if _is_path(target) else _load_module
        modules[target] = load(target)
    members: Mapping[str, object] = vars(modules[target])
    if name is None:
        tools = [member for member in members.values() if isinstance(member, BaseTool)]
        if not tools:
            raise UserError(
                f"There is no tool in {target}; name a function in it as {target}:name, "
                "or decorate it with @tool."
            )
        return tools
    if not hasattr(modules[target], name):
        raise UserError(f"There is no {name!r} in {target}; check the spelling of {part!r}.")
    # Not from `members`: a module may answer for names that it makes on demand.
    value: object = getattr(modules[target], name)
    return _tools_of(value, part)


def _split(part: str) -> tuple[str, str | None]:
    """Split at the last colon, but not at the one of a Windows drive."""
    target, colon, name = part.rpartition(":")
    if not colon or "/" in name or "\\" in name:
        return part, None
    if not target or not name.isidentifier():
        raise UserError(f'{part!r} does not name tools; write it as "module:name".')
    return target, name


def _is_path(target: str) -> bool:
    return target.endswith(".py") or "/" in target or "\\" in target


def _load_module(target: str) -> ModuleType:
    _put_on_path(Path.cwd())
    importlib.invalidate_caches()  # the file may be newer than the last look into the folder
    try:
        return importlib.import_module(target)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{target}.".startswith(f"{error.name}."):
            raise UserError(
                f"There is no module {target!r} here or among the installed packages; "
                "check the spelling and the current directory."
            ) from error
        raise _import_failed(target, error) from error
    except (Exception, SystemExit) as error:
        raise _import_failed(target, error) from error


def _load_file(target: str) -> ModuleType:
    path = Path(target).expanduser().resolve()
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
    name = f"hansei_loaded_{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UserError(f"There is no Python file {target}; check the path.")
    _put_on_path(path.parent)
    module = importlib.util.module_from_spec(spec)
    # Registered while it runs: annotations written as text are resolved through it.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _import_failed(target, error) from error
    return module


def _put_on_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _tools_of(value: object, part: str) -> list[BaseTool]:
    """Make tools of what a spec names: of itself, of its members, or of what it returns."""
    if _makes_tools(value):
        try:
            value = value()
        except Exception as error:
            raise UserError(
                f"{part} failed when it was called for its tools ({_cause(error)}); repair it."
            ) from error
    listed = list(cast("Iterable[object]", value)) if isinstance(value, list | tuple) else [value]
    if not listed:
        raise UserError(f"There is no tool in {part}; the list is empty.")
    return [_tool_of(member, part) for member in listed]


def _makes_tools(value: object) -> TypeGuard[Callable[[], object]]:
    """Tell a callable that returns tools from a function that is to become one."""
    if isinstance(value, BaseTool) or not callable(value) or inspect.iscoroutinefunction(value):
        return False
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # some callables written in C do not tell
        return False
    plain = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(p.default is p.empty and p.kind not in plain for p in signature.parameters.values()):
        return False
    if isinstance(value, type):
        return issubclass(value, BaseTool)
    returned: object = signature.return_annotation
    if returned is signature.empty:
        return True
    text = returned if isinstance(returned, str) else inspect.formatannotation(returned)
    return _TOOLS_RETURNED.fullmatch(text) is not None


def _tool_of(value: object, part: str) -> BaseTool:
    if isinstance(value, BaseTool):
        return value
    if not (inspect.isfunction(value) or inspect.ismethod(value)):
        raise UserError(
            f"{part} gives {type(value).__name__} where a tool is expected; "
            "name a tool, a list of tools, or a function with annotations."
        )
    untyped = [
        name
        for name, parameter in inspect.signature(value).parameters.items()
        if parameter.annotation is parameter.empty
    ]
    if untyped:
        raise UserError(
            f"{part} cannot become a tool because {', '.join(untyped)} has no type; "
            "annotate every argument."
        )
    try:
        return as_tool(value, parse_docstring=True, error_on_invalid_docstring=False)
    except Exception as error:
        raise UserError(f"{part} cannot become a tool ({_cause(error)}); repair it.") from error


def _import_failed(target: str, error: BaseException) -> UserError:
    return UserError(f"{target} fails on import ({_cause(error)}); repair it or name another.")


def _cause(error: BaseException) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}"[:LONGEST_CAUSE]
