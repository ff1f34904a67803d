"""LZHUF against a real file and against an encoder of its own kind: a tree of objects, written for the test."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.binary import Reader
from addon.core.compression.lzhuf import unpack
from addon.core.errors import ReadError
from tests.work import lines_run


class Node:
    """A node of the adaptive tree; ``index`` is where it is in the order of frequencies."""

    def __init__(self, frequency, position, symbol=None, sons=()):
        self.frequency, self.place, self.symbol, self.sons = frequency, position, symbol, sons
        self.parent = None
        for son in sons:
            son.parent = self


class Encoder:
    """Packs as the game's tools do, with the plainest data structures and the plainest search for matches."""

    def __init__(self):
        self.order = [Node(1, symbol, symbol) for symbol in range(314)]
        self.leaf = {node.symbol: node for node in self.order}
        self.grow()
        self.bits = []

    def grow(self):
        first = 0
        while len(self.order) < 627:
            self.order.append(self.joined(first, len(self.order)))
            first += 2

    def joined(self, first, position):
        sons = (self.order[first], self.order[first + 1])
        return Node(sons[0].frequency + sons[1].frequency, position, sons=sons)

    def halve(self):
        self.order = [node for node in self.order if node.symbol is not None]
        for node in self.order:
            node.frequency = (node.frequency + 1) // 2
        for first in range(0, 2 * 313, 2):
            node = self.joined(first, 0)
            index = len(self.order)
            while node.frequency < self.order[index - 1].frequency:
                index -= 1
            self.order.insert(index, node)
        for index, node in enumerate(self.order):
            node.place = index
            if node is not self.order[-1]:
                assert node.parent is not None
        self.order[-1].parent = None

    def put_symbol(self, symbol):
        node, code = self.leaf[symbol], []
        while node.parent:
            code.append(int(node.parent.sons[1] is node))
            node = node.parent
        self.bits += reversed(code)
        if self.order[-1].frequency == 0x4000:
            self.halve()
        node = self.leaf[symbol]
        while node:
            # The last of the nodes that are as frequent as this one was changes places with it, with all below it.
            last = max(index for index in range(node.place, 627) if self.order[index].frequency == node.frequency)
            self.exchange(node, self.order[last])
            node.frequency += 1
            node = node.parent

    def exchange(self, a, b):
        if a is b:
            return
        parents = a.parent, b.parent
        sides = a.parent.sons.index(a), b.parent.sons.index(b)
        for parent, side, new in zip(parents, sides, (b, a), strict=True):
            sons = list(parent.sons)
            sons[side] = new
            parent.sons = tuple(sons)
            new.parent = parent
        a.place, b.place = b.place, a.place
        self.order[a.place], self.order[b.place] = a, b

    def put_number(self, value, width):
        self.bits += [value >> bit & 1 for bit in reversed(range(width))]

    def put_distance(self, distance):
        """The prefix codes written out from the format page: 1 of 3 bits, 3 of 4, 8 of 5, 12, 24, 16."""
        upper = distance - 1 >> 6
        code = 0
        previous = 3
        lengths = [3] + [4] * 3 + [5] * 8 + [6] * 12 + [7] * 24 + [8] * 16
        for value, length in enumerate(lengths):
            code <<= length - previous
            previous = length
            if value == upper:
                self.put_number(code, length)
                break
            code += 1
        self.put_number(distance - 1 & 63, 6)

    def pack(self, plain, reach=4036, longest=60):
        data = b" " * 4036 + plain
        at = 4036
        while at < len(data):
            length, distance = self.match(data, at, reach, longest)
            if length < 3:
                self.put_symbol(data[at])
                at += 1
            else:
                self.put_symbol(length + 253)
                self.put_distance(distance)
                at += length
        while len(self.bits) % 8:
            self.bits.append(0)
        packed = bytes(int("".join(map(str, self.bits[i : i + 8])), 2) for i in range(0, len(self.bits), 8))
        return len(plain).to_bytes(4, "little") + packed

    def match(self, data, at, reach, longest):
        best = (0, 0)
        for length in range(3, min(longest, len(data) - at) + 1):
            start = data.rfind(data[at : at + length], at - reach, at + length - 1)
            if start < 0:
                break
            best = (length, at - start)
        return best


@given(st.binary(min_size=1, max_size=200) | st.text("ab ", min_size=1, max_size=400).map(str.encode))
@settings(deadline=None, max_examples=60)
def test_what_the_encoder_packs_comes_back(plain):
    assert unpack(Reader(Encoder().pack(plain))) == plain


def test_matches_extend_across_the_whole_window_and_into_the_spaces_before_it():
    plain = b" " * 70 + bytes(range(1, 100)) + bytes(i * i % 251 for i in range(3900)) + bytes(range(1, 100)) * 2
    assert unpack(Reader(Encoder().pack(plain))) == plain


def test_the_tree_is_halved_at_0x4000_and_goes_on():
    plain = bytes((i * i * 7 + i // 3) % 256 for i in range(26_000))
    encoder = Encoder()
    packed = encoder.pack(plain, reach=0)
    assert encoder.order[-1].frequency < 0x4000
    assert unpack(Reader(packed)) == plain


def test_a_real_object_unpacks_to_the_sizes_its_chunks_declare(corpus):
    data = (corpus / "object/bx_old_compressed.object").read_bytes()
    assert int.from_bytes(data[:4], "little") == 0x8000_7777
    plain = unpack(Reader(data[8:]))
    assert len(plain) == 1645
    at, ids = 0, []
    while at < len(plain):
        ids.append(int.from_bytes(plain[at : at + 4], "little"))
        at += 8 + int.from_bytes(plain[at + 4 : at + 8], "little")
    assert at == len(plain)
    assert ids[:3] == [0x900, 0x912, 0x903]
    assert b"det\\det_leaves\0" in plain


@pytest.mark.parametrize(
    ("size", "problem"),
    [
        (0, "declared to unpack to 0"),
        ((64 << 20) + 1, "declared to unpack to 67108865"),
        (0xFFFF_FFFF, "declared to unpack to 4294967295"),
        (770 * 48 + 1, "declared to unpack to"),
        (1646, "ends before its 1646 bytes"),
        (1600, "left over|more than"),
    ],
)
def test_sizes_that_cannot_be_true_are_refused(corpus, size, problem):
    stream = (corpus / "object/bx_old_compressed.object").read_bytes()[12:]
    with pytest.raises(ReadError, match=problem):
        unpack(Reader(size.to_bytes(4, "little") + stream))


def test_a_match_that_runs_over_the_end_is_refused():
    packed = Encoder().pack(b"abcabcabcabc")
    with pytest.raises(ReadError, match="gives more than its 11 bytes"):
        unpack(Reader((11).to_bytes(4, "little") + packed[4:]))


def test_every_truncation_is_refused():
    packed = Encoder().pack(b"the quick brown fox jumps over the lazy dog, the quick brown fox")
    for size in range(len(packed)):
        with pytest.raises(ReadError):
            unpack(Reader(packed[:size]))


def test_time_is_linear_in_the_packed_bytes():
    def lines(count):
        packed = Encoder().pack(bytes((i * i * 7 + i // 3) % 256 for i in range(count)), reach=0)
        return lines_run(lambda: unpack(Reader(packed)))

    counts = [lines(count) for count in (2_000, 4_000, 8_000)]
    assert all(after < 2.2 * before for before, after in pairwise(counts))
