"""What the environment says: one class that reads it, nothing that acts on it."""

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, PositiveFloat, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from hansei.policies.errors import OperatorError
from hansei.policies.narrow import as_mapping
from hansei.policies.plain_model import allowed_by


class ModelEnvironment(BaseSettings):
    """Models and the database from the environment, then from `.env` in the working directory.

    A variable of the environment wins over the same one in `.env`, even when it is empty:
    `OPENAI_API_KEY= hansei run ...` turns the key off for one run. Empty counts as not set.
    """

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        # Several of these are secrets, and a validation error quotes its input.
        hide_input_in_errors=True,
    )

    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = Field(
        default=None,
        # The second is the older name, which the OpenAI client of LangChain still takes.
        validation_alias=AliasChoices("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    )
    openai_proxy: str | None = None
    """Proxy for the endpoint; `HTTPS_PROXY` and its kin work as well."""
    hansei_model: str | None = None
    hansei_timeout: PositiveFloat | None = None
    """Seconds for one request, where the caller gives none."""
    hansei_tool_style: Literal["native", "schema"] | None = None
    """How tools are offered: schema helps small models that write calls as text."""
    hansei_critic_model: str | None = None
    hansei_critic_base_url: str | None = None
    hansei_critic_api_key: SecretStr | None = None
    hansei_gguf: Path | None = None
    """A model file of the user's own, served in place of the embedded one."""
    hansei_cache: Path | None = None
    """Folder for joined model files, in place of the user's cache folder."""
    hansei_db: str | None = None
    """The file or the Postgres URL with the threads of the command line and of Studio."""

    @field_validator("*", mode="before")
    @classmethod
    def _blank_is_not_set(cls, value: object) -> object:
        """Strip text; a key pasted with its line break would end up in an error of the client."""
        if isinstance(value, str):
            return value.strip() or None
        return value


def read_environment() -> ModelEnvironment:
    """Read the settings anew.

    Raises:
        OperatorError: A variable cannot be used, or `.env` cannot be read.
    """
    try:
        return ModelEnvironment()
    except ValidationError as error:
        names = sorted({str(part["loc"][0]).upper() for part in error.errors() if part["loc"]})
        told = "; ".join(f"{name} must be {_allowed(name)}" for name in names)
        msg = f"The environment or .env holds what cannot be used: {told}."
        raise OperatorError(msg) from None
    except (OSError, UnicodeDecodeError) as error:
        msg = f"The file .env in the working directory cannot be read: {error.__class__.__name__}."
        raise OperatorError(msg) from None


def _allowed(name: str) -> str:
    """What a variable takes, in words; its value is not repeated, since it may be a secret."""
    schema = as_mapping(ModelEnvironment.model_json_schema()["properties"])
    told = allowed_by(as_mapping(schema.get(name.lower(), schema.get(name))))
    # None is what an empty variable becomes; nobody can write it.
    return told.removesuffix(", or None") or "another value"
