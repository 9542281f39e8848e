# SPDX-License-Identifier: Apache-2.0
"""Protocol buffers without their library: the wire format, and what a pprof file says."""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, kind, value) of each: an integer, or the bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("a field ends behind its message")
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        else:
            raise ValueError(f"wire type {kind}")
        yield key >> 3, kind, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def pprof(data):
    """Its samples, each with its values and labels."""
    top = list(fields(data))
    texts = [value.decode() for number, _, value in top if number == 6]
    samples = []
    for number, _, value in top:
        if number != 2:
            continue
        labels, values = {}, []
        for field, kind, inner in fields(value):
            if field == 3:
                label = {key: number for key, _, number in fields(inner)}
                labels[texts[label[1]]] = texts[label[2]] if 2 in label else label.get(3, 0)
            elif field == 2:
                values += packed(inner) if kind == 2 else [inner]
        samples.append({"labels": labels, "values": values})
    return {"samples": samples, "texts": texts, "types": [value for number, _, value in top if number == 1]}
