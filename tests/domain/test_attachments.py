"""What pictures are by their bytes: read to the end, without metadata, or refused in words."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stead.domain.attachments import MOST_PICTURE_BYTES, media_type, read_picture
from stead.domain.errors import InvalidRequest
from tests.fakes.pictures import EXIF, chunk, jpeg, pdf, png, segment, turned


def test_metadata_leave_and_the_picture_stays() -> None:
    told = png(40, 30, chunk(b"eXIf", EXIF), chunk(b"iCCP", b"profile"), chunk(b"tEXt", b"Author\0Mila"))
    for data in (told, told + b"appended"):
        found = read_picture(data)
        assert (found.width, found.height, found.decode, found.data) == (40, 30, False, png(40, 30))
    told = jpeg(40, 30, segment(0xE1, EXIF), segment(0xE2, b"ICC_PROFILE"), segment(0xFE, b"by Mila"))
    assert read_picture(told).data == jpeg(40, 30) and EXIF not in read_picture(told).data


def test_a_format_is_known_by_its_bytes_and_svg_is_none() -> None:
    heads = (png(), jpeg(), b"GIF89a", b"RIFF\0\0\0\0WEBPVP8 ", pdf(1))
    kinds = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"]
    assert [media_type(head) for head in heads] == kinds
    for other in (b"<svg onload=alert(1)>", b"<!doctype html>", b"", b"MZ", b"RIFF\0\0\0\0WAVE", b" \x89PNG"):
        assert media_type(other) == ""


def test_what_is_too_large_or_moves_does_not_fit_as_it_is() -> None:
    assert read_picture(png(1568, 2)).fits and not read_picture(png(1569, 2)).fits
    assert not read_picture(png(40, 30, chunk(b"acTL", b"\0" * 8))).fits
    large = png(40, 30, chunk(b"IDAT", b"\0" * MOST_PICTURE_BYTES))
    assert not read_picture(large).fits


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_photograph_that_lies_on_its_side_is_left_to_the_decoder(order: str) -> None:
    for turn in range(1, 9):
        assert read_picture(jpeg(40, 30, segment(0xE1, turned(turn, order)))).fits is (turn == 1)
    assert read_picture(jpeg(40, 30, segment(0xFE, turned(6, order)))).fits  # a comment turns nothing


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (png(40, 30)[:-9], "damaged or cut off"),
        (jpeg(40, 30)[:-2], "damaged or cut off"),
        (b"\x89PNG\r\n\x1a\n" + b"\xff" * 40, "damaged or cut off"),
        (png().replace(b"IDAT", b"IDAX"), "damaged or cut off"),
        (jpeg(0, 30), "0x30"),
        (jpeg(60_000, 60_000), "60000x60000"),
    ],
)
def test_a_picture_that_cannot_be_one_is_refused_in_words(data: bytes, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        read_picture(data)


@settings(max_examples=300, deadline=None)
@given(
    whole=st.sampled_from([png(), jpeg(), png(3, 3, chunk(b"acTL", b"x"))]),
    cut=st.integers(0, 400),
    put=st.binary(max_size=60),
)
def test_no_bytes_do_more_than_be_refused(whole: bytes, cut: int, put: bytes) -> None:
    for data in (whole[:cut] + put, whole[: cut // 2] + put + whole[cut // 2 + len(put) :]):
        with contextlib.suppress(InvalidRequest):
            found = read_picture(data)
            assert len(found.data) <= len(data) and read_picture(found.data).data == found.data
