"""`hansei model`: put the embedded model in place, or serve it."""

from typing import Annotated

import typer

from hansei.console import say_plainly
from hansei.guard import guarded

model_app = typer.Typer(no_args_is_help=True, help="The embedded model.")


@model_app.command("pull")
def model_pull() -> None:
    """Put the embedded model's file in place and check it."""

    def body() -> int:
        from hansei.graphs.local_file import pull
        from hansei.graphs.local_progress import progress_bar

        with progress_bar() as progress:
            path = pull(progress=progress)
        say_plainly(f"The model is at {path}.")
        return 0

    guarded(body)


@model_app.command("serve")
def model_serve(
    port: Annotated[int, typer.Option(help="Port on loopback; 0 takes a free one.")] = 8080,
) -> None:
    """Serve the embedded model on loopback until Ctrl-C."""

    def body() -> int:
        from hansei.graphs.local_model import serve
        from hansei.graphs.local_process import LocalEndpoint
        from hansei.graphs.local_progress import progress_bar

        def tell(endpoint: LocalEndpoint) -> None:
            for line in (
                f"OPENAI_BASE_URL={endpoint.base_url}",
                f"HANSEI_MODEL={endpoint.model_name}",
            ):
                say_plainly(line)

        with progress_bar() as progress:
            serve(port=port, progress=progress, on_ready=tell)
        return 0

    guarded(body)
