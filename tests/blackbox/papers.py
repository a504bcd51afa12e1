"""PDF documents, good and hostile."""

import base64
import zlib


def bomb(gib: int) -> bytes:
    """A compressed stream of that many GiB of blanks, as far as anybody reads it."""
    packer = zlib.compressobj(9)
    head = packer.compress(b" " * 8) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b" " * (4 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * (256 * gib)


def pdf(content: bytes, extra: bytes = b"") -> bytes:
    """One page with that content stream; `extra` goes into the stream's dictionary."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    own = b" /Resources << /Font << /F1 5 0 R >> /XObject << /X 4 0 R >> >> "
    return assemble([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R " + own + b">>",
        b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), extra, content),
        font,
    ])


def assemble(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """A file of these objects, the first of them its root."""
    file = b"%PDF-1.5\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    file += b"".join(b"%010d 00000 n \n" % place for place in places)
    return file + b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(places) + 1,
        trailer,
        start,
    )


def said(text: str) -> bytes:
    """A page that says so."""
    return pdf(b"BT /F1 24 Tf 72 720 Td (%s) Tj ET" % text.encode())


HOSTILE = {
    "garbage": b"%PDF-1.7\n" + bytes(range(256)) * 64,
    "cut": said("half of it")[:180],
    "no pdf": b"just text",
    "bomb": pdf(bomb(2), b"/Filter /FlateDecode"),
    "bomb in a bomb": pdf(zlib.compress(bomb(4), 9), b"/Filter [/FlateDecode /FlateDecode]"),
    "form in itself": pdf(b"/X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 4 0 R >> >>"),
    "pages in themselves": assemble([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 /Parent 2 0 R >>",
    ]),
    "nested": assemble([b"<< /Type /Catalog /Pages " + b"[" * 200_000 + b"]" * 200_000 + b" >>"]),
    "text without end": pdf(b"BT /F1 9 Tf 72 720 Td (" + b"long " * 1_000_000 + b") Tj ET"),
    "no text": pdf(b"0 0 m 9 9 l S"),
    "locked": assemble(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [] /Count 0 >>",
            b"<< /Filter /Standard /V 1 /R 2 /P -44 /O (%s) /U (%s) >>" % (b"o" * 32, b"u" * 32),
        ],
        b"/Encrypt 3 0 R /ID [(a) (a)]",
    ),
}


def base64_of(document: bytes) -> str:
    return base64.b64encode(document).decode()


def data_url(document: bytes, kind: str = "application/pdf") -> str:
    return f"data:{kind};base64,{base64_of(document)}"
