"""The embedded model's file: joined once, found when broken, repaired, never half there."""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_pieces import BARE, CONTENTS, WHOLE, install_pieces, left_over, site, source

from hansei.graphs import local_file
from hansei.graphs.local_file import local_file_available, local_model_file, models_folder, pull
from hansei.graphs.local_pieces import ModelSource
from hansei.policies.errors import OperatorError, UserError

__all__ = ["site", "source"]  # fixtures


class Seen:
    """A progress callable that remembers what it was told."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int, int]] = []

    def __call__(self, stage: local_file.Stage, done: int, total: int, /) -> None:
        self.calls.append((stage, done, total))

    def stages(self) -> list[str]:
        return [stage for stage, _, _ in self.calls]


def test_the_pieces_are_joined_in_order_and_counted(source: ModelSource) -> None:
    seen = Seen()
    path = local_model_file(progress=seen, source=source)
    assert path == models_folder() / "toy.gguf"
    assert path.read_bytes() == WHOLE
    ends = [13, 29, len(WHOLE)]
    assert seen.calls == [("join", end, len(WHOLE)) for end in ends]
    assert left_over() == []


def test_more_than_nine_pieces_are_joined_by_number(site: Path) -> None:
    contents = [bytes([65 + number]) for number in range(12)]
    path = local_model_file(source=install_pieces(site, contents))
    assert path.read_bytes() == b"ABCDEFGHIJKL"


def test_a_checked_file_is_not_read_again(source: ModelSource) -> None:
    path = local_model_file(source=source)
    seen = Seen()
    assert local_model_file(progress=seen, source=source) == path
    assert seen.calls == []


def test_pull_reads_all_of_it_and_finds_what_size_and_time_hide(source: ModelSource) -> None:
    path = local_model_file(source=source)
    seen = Seen()
    pull(progress=seen, source=source)
    assert seen.stages() == ["check"]
    before = path.stat()
    path.write_bytes(WHOLE.swapcase())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert local_model_file(source=source).read_bytes() != WHOLE
    assert pull(source=source).read_bytes() == WHOLE


def test_a_changed_file_is_checked_and_joined_again(source: ModelSource) -> None:
    path = local_model_file(source=source)
    path.write_bytes(WHOLE.swapcase())
    os.utime(path, ns=(0, 0))
    seen = Seen()
    local_model_file(progress=seen, source=source)
    assert set(seen.stages()) == {"check", "join"}
    assert path.read_bytes() == WHOLE


def test_a_good_file_without_its_marker_is_checked_and_kept(source: ModelSource) -> None:
    path = local_model_file(source=source)
    path.with_name("toy.gguf.checked").unlink()
    for expected in (["check"], []):
        seen = Seen()
        local_model_file(progress=seen, source=source)
        assert seen.stages() == expected


def test_a_marker_for_another_model_does_not_count(source: ModelSource) -> None:
    local_model_file(source=source)
    other = dataclasses.replace(source, sha256="0" * 64)
    with pytest.raises(OperatorError, match="not the embedded model"):
        local_model_file(source=other)


@settings(max_examples=50)
@given(
    damage=st.one_of(
        st.binary(max_size=2 * len(WHOLE)),
        st.integers(0, len(WHOLE) - 1).map(lambda end: WHOLE[:end]),
        st.integers(0, len(WHOLE) - 1).map(
            lambda at: WHOLE[:at] + bytes([WHOLE[at] ^ 1]) + WHOLE[at + 1 :]
        ),
    ),
    marker=st.one_of(st.none(), st.binary(max_size=8)),
)
def test_whatever_lies_there_the_model_comes_out(damage: bytes, marker: bytes | None) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        site, cache = Path(folder, "site"), Path(folder, "cache")
        source = install_pieces(site)
        patch.syspath_prepend(str(site))
        patch.setenv("HANSEI_CACHE", str(cache))
        path = local_model_file(source=source)
        path.write_bytes(damage)
        os.utime(path, ns=(1, 1))
        if marker is not None:
            path.with_name("toy.gguf.checked").write_bytes(marker)
        assert local_model_file(source=source).read_bytes() == WHOLE


def test_a_broken_file_stays_while_nothing_can_replace_it(site: Path, source: ModelSource) -> None:
    path = local_model_file(source=source)
    path.write_bytes(b"half")
    shutil.rmtree(site / "toy_model_part1-0.2.0.dist-info")
    with pytest.raises(OperatorError, match="toy-model-part1"):
        local_model_file(source=source)
    assert path.read_bytes() == b"half"


def test_too_little_room_is_told_in_numbers(
    source: ModelSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(".")._replace(free=1234)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(OperatorError, match=r"needs 67,108,905 bytes .* 1,234 are free"):
        local_model_file(source=source)


@pytest.mark.parametrize(("code", "words"), [(errno.ENOSPC, "are free"), (errno.EIO, "written")])
def test_a_disk_that_fails_while_writing_leaves_nothing(
    source: ModelSource, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    def full(_handle: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OperatorError, match=words):
        local_model_file(source=source)
    assert not (models_folder() / "toy.gguf").exists()
    assert left_over() == []


def test_a_cache_that_is_no_folder_is_told(
    source: ModelSource, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HANSEI_CACHE", str(tmp_path / "file"))
    with pytest.raises(OperatorError, match="HANSEI_CACHE"):
        local_model_file(source=source)


def test_threads_at_once_join_once(source: ModelSource) -> None:
    together = threading.Barrier(4)

    def one(_number: int) -> tuple[bytes, list[str]]:
        seen = Seen()
        together.wait()
        content = local_model_file(progress=seen, source=source).read_bytes()
        return content, seen.stages()

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(one, range(4)))
    assert {content for content, _ in results} == {WHOLE}
    assert sorted(map(len, (stages for _, stages in results))) == [0, 0, 0, len(CONTENTS)]


SCRIPT = """
import os, sys
from hansei.graphs.local_file import local_model_file
from hansei.graphs.local_pieces import ModelSource
source = ModelSource(**{fields!r})
def progress(stage, done, total):
    if {die!r}:
        os.kill(os.getpid(), 9)
    sys.stdout.write(stage + " ")
print("ready", flush=True)
sys.stdin.readline()
sys.stdout.write(local_model_file(progress=progress, source=source).read_bytes().decode())
"""


@pytest.fixture
def start(site: Path, source: ModelSource) -> Iterator[list[subprocess.Popen[str]]]:
    """Two processes that are about to ask for the file; the first is killed while it joins."""
    fields = dataclasses.asdict(source)
    running = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                BARE + SCRIPT.format(fields=fields, die=die),
            ],
            env={**os.environ, "PYTHONPATH": str(site)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for die in (True, False, False)
    ]
    yield running
    for process in running:
        process.kill()
        process.communicate()


def test_processes_at_once_and_one_that_is_killed(
    start: list[subprocess.Popen[str]], source: ModelSource
) -> None:
    for process in start:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    killed, *others = start
    killed.communicate("\n")
    assert killed.returncode == -9
    assert len(left_over()) == 1
    for process in others:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = sorted(process.communicate()[0] for process in others)
    assert outputs == sorted([WHOLE.decode(), "join " * len(CONTENTS) + WHOLE.decode()])
    assert left_over() == []
    assert local_model_file(source=source).read_bytes() == WHOLE


def test_a_file_of_ones_own_is_taken_as_it_is(
    site: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mine.gguf").write_bytes(b"mine")
    monkeypatch.setenv("HANSEI_GGUF", "mine.gguf")
    assert local_model_file() == tmp_path / "mine.gguf"
    assert local_file_available()
    assert not models_folder().exists()
    monkeypatch.setenv("HANSEI_GGUF", str(tmp_path / "other.gguf"))
    with pytest.raises(UserError, match=r"HANSEI_GGUF names .*other\.gguf"):
        local_model_file()


def test_the_cache_is_the_users_own_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HANSEI_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/somebody/cache")
    assert models_folder().parts[-2:] == ("hansei", "models")
