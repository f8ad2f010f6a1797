#!/usr/bin/env python3
"""Makes the seeds of sound_fuzz, npz_fuzz and sound_manifest_fuzz: small files of every kind.

    python3 -m venv peer && peer/bin/pip install numpy soundfile
    peer/bin/python tests/fuzz/make_sound_seeds.py
"""
import io
from pathlib import Path

import numpy
import soundfile

SEEDS = Path(__file__).parent / "seeds"


def write(target, name, data):
    folder = SEEDS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def sound(kind, subtype, channels=1, rate=8000, samples=200):
    generator = numpy.random.RandomState(3)
    frames = 0.3 * generator.standard_normal((samples, channels)).clip(-3, 3)
    out = io.BytesIO()
    soundfile.write(out, frames, rate, format=kind, subtype=subtype)
    return out.getvalue()


def archive(save):
    out = io.BytesIO()
    save(out, a=numpy.arange(6, dtype=numpy.float32).reshape(3, 2), b=numpy.zeros((1, 2)))
    return out.getvalue()


if __name__ == "__main__":
    write("sound", "pcm.wav", sound("WAV", "PCM_16"))
    write("sound", "float.wav", sound("WAV", "FLOAT", channels=2))
    write("sound", "adpcm.wav", sound("WAV", "IMA_ADPCM", samples=600))
    write("sound", "extensible.wav", sound("WAVEX", "PCM_24", channels=3, rate=192000, samples=60))
    write("sound", "a.flac", sound("FLAC", "PCM_16"))
    write("sound", "vorbis.ogg", sound("OGG", "VORBIS", samples=64))
    write("sound", "a.opus", sound("OGG", "OPUS", samples=64))
    write("npz", "stored", archive(numpy.savez))
    write("npz", "packed", archive(numpy.savez_compressed))
    write("sound_manifest", "rows", b"1272-128104-0001\t77040\tNOR IS MISTER\na/x.wav\t0\tTHE LITTLE\n")
    write("sound_manifest", "named", b"Client_ID\tpath\tstart\tend\tSentence\nann\ta.wav\t0.25\t1.5e0\thello\n")
    write("sound_manifest", "times", b";; comment\na 1 0.1 0.2 hello 0.99\na 1 0.4 0.3 there\n")
    write("sound_manifest", "pattern", b"{label}_{group}_{number}\n7_jackson_32")
