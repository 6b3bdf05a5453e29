"""What a runner's bytes and its end come to, row by row."""

from __future__ import annotations

import pytest
from forgeries import told

from policyd.replay.frames import Call, Ended, Setup, Stream, ending, outcome, request

ONE, TWO = b"1" * 16, b"2" * 16


def frame(nonce: bytes, payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + nonce + payload


READY, FIRST, SECOND = frame(ONE, b""), frame(ONE, b"V1"), frame(TWO, b"V2")

STREAMS = [
    # bytes, calls asked for, ready, answered, broken
    (b"", 1, False, 0, None),
    (READY, 1, True, 0, None),
    (READY + FIRST, 1, True, 1, None),
    (READY + FIRST[:-1], 1, True, 0, None),
    (READY + FIRST + SECOND, 2, True, 2, None),
    (READY + FIRST + SECOND, 1, True, 1, "broken double"),
    (READY + FIRST + b"x", 1, True, 1, "broken double"),
    (READY + FIRST + FIRST, 1, True, 1, "broken double"),
    (READY + FIRST + FIRST, 2, True, 1, "broken malformed"),
    (READY + SECOND, 1, True, 0, "broken malformed"),
    (READY + READY, 1, True, 0, "broken malformed"),
    (FIRST, 1, False, 0, "broken malformed"),
    (frame(TWO, b""), 1, False, 0, "broken malformed"),
    (b"x" * 64, 1, False, 0, "broken malformed"),
    (READY + b"\xff\xff\xff\xff" + ONE, 1, True, 0, "broken oversize"),
]


@pytest.mark.parametrize(("data", "asked", "ready", "answered", "broken"), STREAMS)
@pytest.mark.parametrize("step", [1, 7, 4096])
def test_a_stream_is_frames_in_order_and_nothing_else(data, asked, ready, answered, broken, step):
    stream = Stream([ONE, TWO], 1 << 20)
    for at in range(0, len(data), step):
        stream.feed(data[at : at + step], asked)
    assert (stream.is_ready, stream.answered) == (ready, answered)
    assert (stream.broken and told(stream.broken)) == broken


ENDINGS = [
    (Ended(0), None), (Ended(3), "broken exit"), (Ended(70), "broken exit"),
    (Ended(-11), "broken signal"), (Ended(139), "broken signal"), (Ended(-9), "broken signal"),
    (Ended(137, cpu_seconds=1.9), "broken timeout"), (Ended(-9, cpu_seconds=1.2), "broken timeout"),
    (Ended(-24), "broken timeout"), (Ended(-9, timed_out=True), "broken timeout")]


@pytest.mark.parametrize(("ended", "broken"), ENDINGS)
def test_only_a_clean_end_is_none(ended, broken):
    found = ending(ended, 2)
    assert (found and told(found)) == broken


PAYLOADS = [
    (b"V1", "value 1"), (b"V", "broken malformed"), (b"V1 ", "broken malformed"),
    (b"", "broken malformed"), (b"X1", "broken malformed"), (b'U"why"', "broken unsendable"),
    (b'O"why"', "broken oversize"), (b"U1", "broken malformed"), (b"R1", "broken malformed"),
    (b'R["E",false,"m",[]]', "raised E"), (b'R["E",true,"m",["x"]]', "import E"),
    (b'R["E",1,"m",[]]', "broken malformed"), (b'R["E",true,"m",[1]]', "broken malformed"),
    (b'R["E",true,"m"]', "broken malformed"),
    (b'R["\\u001b[31m\\u202e",false,"",[]]', "raised \\x1b[31m\\u202e")]


@pytest.mark.parametrize(("payload", "expected"), PAYLOADS)
def test_a_payload_is_what_it_says_or_malformed(payload, expected):
    assert told(outcome(payload, 1 << 20)) == expected


def test_a_request_holds_one_input_and_nothing_of_others():
    setup = Setup(("/tree/src",), (), (("RLIMIT_CORE", 0),), None)
    asked = request(Call("m:f", b"[1]"), setup, ONE, last=True, most=10)
    assert asked.endswith((3).to_bytes(4, "big") + b"[1]")
    assert ONE.hex().encode() in asked
