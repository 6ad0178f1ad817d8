"""What the formats share: the writer of JSON text, and what can be sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from provider_calls import VALUES, sent

from gnomon import json_equal
from gnomon.providers import MessageError, shared
from gnomon.values import from_text, snapshot, to_text


@given(VALUES)
def test_the_writer_writes_what_to_text_writes(value: Any) -> None:
    assert shared.json_text(value, "here") == to_text(value)
    assert shared.json_text(snapshot(value), "here") == to_text(value)


@given(VALUES)
def test_a_json_piece_can_be_sent_and_means_the_same_but_for_surrogates(value: Any) -> None:
    piece = shared.json_piece(value)
    sent(piece.value)
    sent(piece.text)
    assert json_equal(from_text(piece.text), piece.value)
    if not any("\ud800" <= character <= "\udfff" for character in to_text(value)):
        assert json_equal(piece.value, value)


def test_a_shared_part_is_no_cycle() -> None:
    part: list[Any] = []
    assert shared.json_text({"a": part, "b": [part, part]}, "here") == '{"a":[],"b":[[],[]]}'


def test_an_object_whose_dump_fails_is_refused() -> None:
    class Broken:
        def model_dump(self, **options: object) -> object:
            raise ValueError("no")

    class Odd:
        def model_dump(self, **options: object) -> object:
            return []

    with pytest.raises(MessageError, match=r"here: its model_dump\(\) failed: no"):
        shared.fields(Broken(), "here")
    with pytest.raises(MessageError, match="here: it is an object of type Odd"):
        shared.fields(Odd(), "here")
