#!/usr/bin/env python3
"""Makes sound.safetensors: what librosa and torchaudio compute for a small seeded sound. Also frames.npz and packed_frames.npz,
arrays as NumPy writes them.

    python3 -m venv peer && peer/bin/pip install librosa==0.11.0 torchaudio==2.11.0 safetensors
    peer/bin/python tests/golden/make_sound.py

Samples are float32. What librosa makes is computed in float64 and rounded once; torchaudio computes in float32. With
center=False, htk=True and norm=None, librosa's mel spectrogram is torchaudio's (mel_scale="htk"): it prints how far the two are
apart.
"""
import json
from pathlib import Path

import librosa
import numpy
import torch
from safetensors.numpy import save_file

RATE, SAMPLES = 16000, 4000


def sound():
    """A chirp with noise, and a silent stretch in it."""
    generator = numpy.random.RandomState(7)
    seconds = numpy.arange(SAMPLES) / RATE
    samples = 0.5 * numpy.sin(2 * numpy.pi * (200 * seconds + 6000 * seconds**2))
    samples += 0.02 * generator.standard_normal(SAMPLES)
    samples[1500:2300] = 0
    return samples.astype(numpy.float32)


def log_mel(samples, rate=RATE, window=400, hop=160, fft=512, mels=40, low=20.0, high=None):
    # The window lies in the middle of the fft samples: zeros make frame 0 begin with sample 0.
    padded = numpy.pad(samples.astype(numpy.float64), (fft - window) // 2)
    power = librosa.feature.melspectrogram(
        y=padded, sr=rate, n_fft=fft, win_length=window, hop_length=hop, center=False, power=2.0, n_mels=mels,
        fmin=low, fmax=high or rate / 2, htk=True, norm=None, dtype=numpy.float64)
    return numpy.log(power + 1e-6)


def mfcc(logs, coefficients=13):
    return librosa.feature.mfcc(S=logs, n_mfcc=coefficients, dct_type=2, norm="ortho")


def with_deltas(rows):
    first = librosa.feature.delta(rows, width=5, order=1, mode="nearest")
    second = librosa.feature.delta(first, width=5, order=1, mode="nearest")
    return numpy.concatenate([rows, first, second])


def emphasised(samples, share):
    samples = samples.astype(numpy.float64)
    return numpy.concatenate([samples[:1], samples[1:] - share * samples[:-1]])


def goldens():
    samples = sound()
    wide = {"rate": 8000, "window": 256, "hop": 64, "fft": 300, "mels": 23, "low": 100.0, "high": 3800.0}
    cases = {
        "logmel": log_mel(samples),
        "logmel80": log_mel(samples, mels=80, fft=1024),
        "odd": log_mel(samples, **wide),
        "mfcc": mfcc(log_mel(samples)),
        "deltas": with_deltas(mfcc(log_mel(samples))),
        "emphasis": log_mel(emphasised(samples, 0.97)),
    }
    tensors = {name: numpy.ascontiguousarray(rows.T).astype(numpy.float32) for name, rows in cases.items()}
    tensors["samples"] = samples
    tensors["twice"] = librosa.resample(samples[:2000], orig_sr=8000, target_sr=16000, res_type="soxr_hq", fix=False)
    tensors["fewer"] = librosa.resample(samples, orig_sr=44100, target_sr=16000, res_type="soxr_hq", fix=False)
    return tensors


def of_torchaudio(samples):
    torch.version.cuda = None  # a torchaudio for another CUDA would refuse to be imported; none is used
    import torchaudio

    padded = torch.nn.functional.pad(torch.tensor(samples), (56, 56))
    mel = {"n_fft": 512, "win_length": 400, "hop_length": 160, "center": False, "n_mels": 40, "f_min": 20.0}
    logs = torch.log(torchaudio.transforms.MelSpectrogram(RATE, **mel)(padded) + 1e-6)
    cepstra = torchaudio.transforms.MFCC(RATE, n_mfcc=13, log_mels=True, melkwargs=mel)(padded)
    deltas = torchaudio.functional.compute_deltas(cepstra)
    both = torch.cat([cepstra, deltas, torchaudio.functional.compute_deltas(deltas)])
    cases = {"logmel": logs, "mfcc": cepstra, "deltas": both}
    return {name: numpy.ascontiguousarray(rows.numpy().T) for name, rows in cases.items()}, torchaudio.__version__


if __name__ == "__main__":
    folder = Path(__file__).parent
    made = goldens()
    others, version = of_torchaudio(made["samples"])
    for name, rows in others.items():
        print(name, "of librosa and torchaudio differ by at most", numpy.abs(rows - made[name]).max())
        made["torchaudio_" + name] = rows
    settings = {"librosa": librosa.__version__, "torchaudio": version, "numpy": numpy.__version__}
    save_file(made, folder / "sound.safetensors", metadata={"settings": json.dumps(settings)})
    frames = {
        "one": numpy.zeros((5, 4), numpy.float32),
        "two": numpy.arange(-2, 4, dtype=numpy.float32).reshape(3, 2),
    }
    numpy.savez(folder / "frames.npz", **frames)
    numpy.savez_compressed(folder / "packed_frames.npz", **frames)
