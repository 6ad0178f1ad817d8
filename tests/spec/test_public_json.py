"""ARG: the public cases of a JSON parser, one by one; what the standard leaves free is decided here."""

from __future__ import annotations

from pathlib import Path

import pytest
from public_data import FOLDER, files, needs

from gnomon_spec.values import NotAValue, parse_arguments

SUITE = "json-parsing"

# What RFC 8259 leaves to the reader, decided once. A file is read as UTF-8; a byte that is none becomes a
# lone surrogate, as Python does it (`surrogateescape`): how bytes become text is not this chapter's.
DECIDED = {
    "number_double_huge_neg_exp": "value",  # underflow gives zero (VAL-4)
    "number_huge_exp": "no value",  # beyond the range of doubles (VAL-4)
    "number_neg_int_huge_exp": "no value",
    "number_pos_double_huge_exp": "no value",
    "number_real_neg_overflow": "no value",
    "number_real_pos_overflow": "no value",
    "number_real_underflow": "value",
    "number_too_big_neg_int": "value",  # whole numbers are kept, whatever their size (VAL-4)
    "number_too_big_pos_int": "value",
    "number_very_big_negative_int": "value",
    "object_key_lone_2nd_surrogate": "value",  # lone surrogates are kept (VAL-6)
    "string_1st_surrogate_but_2nd_missing": "value",
    "string_1st_valid_surrogate_2nd_invalid": "value",
    "string_UTF-16LE_with_BOM": "text",  # not UTF-8
    "string_UTF-8_invalid_sequence": "value",  # bytes that are no UTF-8, inside a string
    "string_UTF8_surrogate_U+D800": "value",
    "string_incomplete_surrogate_and_escape_valid": "value",
    "string_incomplete_surrogate_pair": "value",
    "string_incomplete_surrogates_escape_valid": "value",
    "string_invalid_lonely_surrogate": "value",
    "string_invalid_surrogate": "value",
    "string_invalid_utf-8": "value",
    "string_inverted_surrogates_U+1D11E": "value",
    "string_iso_latin_1": "value",
    "string_lone_second_surrogate": "value",
    "string_lone_utf8_continuation_byte": "value",
    "string_not_in_unicode_range": "value",
    "string_overlong_sequence_2_bytes": "value",
    "string_overlong_sequence_6_bytes": "value",
    "string_overlong_sequence_6_bytes_null": "value",
    "string_truncated-utf-8": "value",
    "string_utf16BE_no_BOM": "text",
    "string_utf16LE_no_BOM": "text",
    "structure_500_nested_arrays": "no value",  # deeper than the limit, and JSON all the same (ARG-3)
    "structure_UTF-8_BOM_empty_object": "text",  # a leading BOM is not JSON (ARG-2)
}


def meaning(raw: str) -> str:
    parsed = parse_arguments(raw)
    if isinstance(parsed, NotAValue):
        return "no value"
    return "text" if parsed is raw else "value"


def content(path: Path) -> str:
    return path.read_bytes().decode(errors="surrogateescape")


@pytest.mark.clause("ARG-1", "ARG-2", "ARG-3")
@needs(SUITE)
@pytest.mark.parametrize("path", files(SUITE, "[yn]_*.json") or [FOLDER], ids=lambda path: path.stem)
def test_the_public_cases_are_read_as_they_must(path: Path) -> None:
    raw = content(path)
    if raw == "":
        assert parse_arguments(raw) == {}  # ARG-1: empty text, which is no JSON, means no arguments
    else:
        assert meaning(raw) == ("value" if path.name.startswith("y") else "text")


@pytest.mark.clause("VAL-4", "VAL-6", "ARG-2", "ARG-3")
@needs(SUITE)
@pytest.mark.parametrize("path", files(SUITE, "i_*.json") or [FOLDER], ids=lambda path: path.stem)
def test_the_public_cases_that_are_left_free_are_read_as_was_decided(path: Path) -> None:
    assert meaning(content(path)) == DECIDED[path.stem.removeprefix("i_")]


@needs(SUITE)
def test_every_decision_is_of_a_public_case() -> None:
    assert {f"i_{one}" for one in DECIDED} == {path.stem for path in files(SUITE, "i_*.json")}
    assert len(files(SUITE, "[yn]_*.json")) == 283
