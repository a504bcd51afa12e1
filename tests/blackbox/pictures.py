"""A picture small enough to be read."""

import struct
import zlib


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_ROWS = b"".join(b"\0" + b"\xff\0\0" * 4 for _ in range(4))
RED_DOT = b"\x89PNG\r\n\x1a\n" + b"".join(
    _chunk(*pair)
    for pair in [
        (b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(_ROWS)),
        (b"IEND", b""),
    ]
)
