"""A bar on standard error while the embedded model is put in place."""

import contextlib
from collections.abc import Generator

from hansei.graphs.local_file import Progress, Stage

_LABELS: dict[Stage, str] = {"join": "Joining the model file", "check": "Checking the model file"}


@contextlib.contextmanager
def progress_bar() -> Generator[Progress | None, None, None]:
    """A bar that appears with the first byte, so that nothing shows when nothing is to do.

    Yields:
        What to hand to `local_model_file` and its like; None where standard error is no terminal.
    """
    # Only here, since most runs find the file in place and show no bar.
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    tasks: dict[Stage, TaskID] = {}

    def show(stage: Stage, done: int, total: int, /) -> None:
        if stage not in tasks:
            bar.start()
            tasks[stage] = bar.add_task(_LABELS[stage], total=total)
        bar.update(tasks[stage], completed=done)

    try:
        yield show
    finally:
        bar.stop()
