"""Which chat model a role gets: from arguments, then the environment, then the embedded model.

Importing this module costs next to nothing and contacts nobody; a model is built when asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import urlsplit

from pydantic import SecretStr

from hansei.policies.errors import OperatorError, UserError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hansei.graphs.environment import ModelEnvironment

ModelRole = Literal["planner", "executor", "reflector", "synthesizer", "evaluator"]

CRITICS: frozenset[str] = frozenset({"reflector", "evaluator"})
"""The roles that judge, and may have a model of their own."""

EMBEDDED_PLACE = "embedded"
"""Where the embedded model is, in traces. It leaves native tool calling alone, so tools are offered
to it as a schema of a call."""

OPENAI = "https://api.openai.com/v1"

DEFAULT_MODEL = "gpt-4.1-mini"
"""Asked for where only a key or an address is set: cheap, and takes schemas, tools and a
temperature, which OpenAI's reasoning models refuse."""

NO_KEY = "none"
"""Sent to an endpoint without a key: the client insists on one, such servers ignore it."""

TIMEOUT = 60.0
"""Seconds for one request to an endpoint; a model that needs longer than that is mostly stuck."""

LOCAL_TIMEOUT = 600.0
"""Seconds for one request to the embedded model: 1024 tokens at 10 a second, after a prompt of
8000 at 40 a second, take five minutes, and other requests share the cores."""


def chat_model(
    name: str | None = None,
    *,
    role: ModelRole | None = None,
    base_url: str | None = None,
    api_key: str | SecretStr | None = None,
    temperature: float | None = 0.0,
    timeout: float | None = None,
    max_tokens: int = 1024,
    max_retries: int = 2,
) -> BaseChatModel:
    """A chat model as the arguments and the environment say.

    An argument wins over the environment, the environment over `.env`. With a key or an address
    (`OPENAI_API_KEY`, `OPENAI_BASE_URL`) it is that endpoint and `HANSEI_MODEL`; for the roles that
    judge, `HANSEI_CRITIC_MODEL`, `HANSEI_CRITIC_BASE_URL` and `HANSEI_CRITIC_API_KEY` come first.
    With neither it is the embedded model, loaded by this call where it is not running yet.

    Args:
        name: Name of the model at the endpoint.
        role: What the model is for; None takes the settings of the roles that do not judge.
        base_url: Address of an OpenAI-compatible API.
        api_key: Its key.
        temperature: 0 for the most repeatable replies; None leaves it to the endpoint.
        timeout: Seconds for one request with its whole reply, each retry anew; the default is
            `HANSEI_TIMEOUT`, else 60, or 600 for the embedded model.
        max_tokens: Limit of a reply.
        max_retries: How often the client asks again when an endpoint is busy or does not answer.

    Raises:
        UserError: An argument or an address cannot be used, or `HANSEI_GGUF` names no file.
        OperatorError: No model is set and none is embedded, or the embedded one cannot start.
    """
    _check_arguments(role, temperature, timeout, max_tokens, max_retries)
    # Who hands in models of their own reads no environment and starts no server.
    from hansei.graphs.environment import read_environment

    environment = read_environment()
    target = _choose(environment, name=name, role=role, base_url=base_url, api_key=api_key)
    usual = TIMEOUT
    if target.base_url is None:
        target = _embedded(environment, target.model)
        usual = LOCAL_TIMEOUT
    # Takes seconds to import, so only when a model is really built.
    from hansei.graphs.endpoint_chat import endpoint_chat

    return endpoint_chat(
        model=target.model or DEFAULT_MODEL,
        base_url=target.base_url or OPENAI,
        api_key=target.api_key,
        temperature=temperature,
        timeout=timeout or environment.hansei_timeout or usual,
        max_tokens=max_tokens,
        max_retries=max_retries,
        proxy=environment.openai_proxy,
        where=target.where,
        tool_style=environment.hansei_tool_style
        or ("schema" if target.where == EMBEDDED_PLACE else "native"),
    )


def describe_model(model: BaseChatModel) -> str:
    """A short name for traces: `name (host)`, without keys, users or passwords.

    For a model that is not one of ours: what it calls itself, and its host where it tells.
    """
    name = _text(model, "model_name") or _text(model, "model") or type(model).__name__
    where = _text(model, "where")
    if where is None and (address := _text(model, "openai_api_base")):
        where = urlsplit(address).netloc.rpartition("@")[2]
    return f"{name} ({where})" if where else name


@dataclass(frozen=True, kw_only=True)
class _Target:
    """Where to ask for what; no address means the embedded model."""

    model: str | None
    base_url: str | None
    api_key: str = field(repr=False)
    where: str | None = None


def _choose(
    environment: ModelEnvironment,
    *,
    name: str | None,
    role: ModelRole | None,
    base_url: str | None,
    api_key: str | SecretStr | None,
) -> _Target:
    """Who is asked for what, decided from what was given and set alone."""
    judges = role in CRITICS
    model = name or (environment.hansei_critic_model if judges else None)
    critic_url = environment.hansei_critic_base_url if judges else None
    url = base_url or critic_url or environment.openai_base_url
    key = _plain(api_key) or (_plain(environment.hansei_critic_api_key) if judges else None)
    # A key is not shown to a host it was not set for.
    if key is None and (base_url or not critic_url or _same_host(critic_url, environment)):
        key = _plain(environment.openai_api_key)
    if url is None and key is not None:
        url = OPENAI
    if url is not None:
        _check_address(url)
    _check_key(key)
    return _Target(model=model or environment.hansei_model, base_url=url, api_key=key or NO_KEY)


def _embedded(environment: ModelEnvironment, model: str | None) -> _Target:
    from hansei.graphs.local_model import local_endpoint, local_model_available
    from hansei.graphs.local_pieces import EMBEDDED, REPAIR
    from hansei.graphs.local_progress import progress_bar

    own_file = environment.hansei_gguf is not None
    if model not in (None, EMBEDDED.model_name) and not own_file:
        msg = (
            f"The model {model} is asked for, but no endpoint is set to ask: set OPENAI_API_KEY or "
            "OPENAI_BASE_URL, or leave the name out for the embedded model."
        )
        raise OperatorError(msg)
    if not local_model_available():
        msg = (
            "No model is set: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own, "
            f"or run `{REPAIR}` for the embedded model."
        )
        raise OperatorError(msg)
    with progress_bar() as progress:
        endpoint = local_endpoint(progress=progress)
    return _Target(
        model=endpoint.model_name,
        base_url=endpoint.base_url,
        api_key=endpoint.api_key,
        where=EMBEDDED_PLACE,
    )


def _plain(key: str | SecretStr | None) -> str | None:
    text = key.get_secret_value() if isinstance(key, SecretStr) else key
    return text or None


def _same_host(url: str, environment: ModelEnvironment) -> bool:
    main = urlsplit(environment.openai_base_url or OPENAI)
    other = urlsplit(url)
    return (main.scheme, main.hostname, main.port) == (other.scheme, other.hostname, other.port)


def _text(model: object, attribute: str) -> str | None:
    value: object = getattr(model, attribute, None)
    return value if isinstance(value, str) and value else None


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
        parts = urlsplit("")
    if not usable or parts.query or parts.fragment:
        # Not quoted back: it may hold a password.
        msg = (
            "The address of the model endpoint cannot be used: it must look like "
            "http://host:8000/v1, without a question mark or a hash sign."
        )
        raise UserError(msg)


def _check_key(key: str | None) -> None:
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        msg = "The API key holds characters that no key has: copy it anew, without spaces."
        raise UserError(msg)


def _check_arguments(
    role: str | None,
    temperature: float | None,
    timeout: float | None,
    max_tokens: int,
    max_retries: int,
) -> None:
    wrong = None
    if role is not None and role not in get_args(ModelRole):
        wrong = f"role must be one of {', '.join(get_args(ModelRole))}"
    elif temperature is not None and not 0 <= temperature <= 2:
        wrong = "temperature must be from 0 to 2"
    elif timeout is not None and not 0 < timeout < float("inf"):
        wrong = "timeout must be a number of seconds above 0"
    elif max_tokens < 1:
        wrong = "max_tokens must be 1 or more"
    elif max_retries < 0:
        wrong = "max_retries must be 0 or more"
    if wrong is not None:
        msg = f"The model cannot be built: {wrong}."
        raise UserError(msg)
