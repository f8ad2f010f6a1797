#!/usr/bin/env python3
"""torchaudio, or librosa, on the features of sounds of `make bench`.

    python3 bench/peers/torch_sounds.py                                       # every row, by torchaudio
    python3 bench/peers/torch_sounds.py --librosa                             # by librosa
    python3 bench/peers/torch_sounds.py --rows 'features/logmel 40 of 60 s'   # these, separated by commas
    python3 bench/peers/torch_sounds.py --list                                # names only

One JSON object per line: {"torch": version, "threads": n} (or "librosa"), then {"name": row, "ms": best run in milliseconds}.
A minute of noise at 16 kHz, float32: windows of 400 samples, 160 apart, 512 points, bands on the HTK scale from 20 Hz, 13
coefficients.
"""
import json
import sys

from rows import best, options_of, parser_of, requested_rows, torch_with

RATE, SECONDS = 16000, 60
FRAMES = {"n_fft": 512, "win_length": 400, "hop_length": 160, "center": False}
ROWS = {f"features/{kind} {mels} of {SECONDS} s": (kind, mels) for kind in ("logmel", "mfcc") for mels in (40, 80)}


def by_torchaudio(arguments):
    """-> the version, and what makes the features of a row."""
    torch = torch_with(arguments.threads)
    torch.version.cuda = None  # a torchaudio for another CUDA would refuse to be imported; none is used
    try:
        import torchaudio
    except ImportError as error:
        sys.exit(f"torchaudio cannot be imported: {error}")
    sound = 0.1 * torch.randn(RATE * SECONDS)

    def maker(kind, mels):
        mel = dict(FRAMES, n_mels=mels, f_min=20.0)
        if kind == "mfcc":
            cepstra = torchaudio.transforms.MFCC(RATE, n_mfcc=13, log_mels=True, melkwargs=mel)
            return lambda: cepstra(sound)
        spectrogram = torchaudio.transforms.MelSpectrogram(RATE, **mel)
        return lambda: torch.log(spectrogram(sound) + 1e-6)

    return {"torch": torch.__version__, "torchaudio": torchaudio.__version__, "threads": arguments.threads}, maker


def by_librosa(arguments):
    try:
        import librosa
        import numpy
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        sys.exit(f"librosa cannot be imported: {error}")
    threadpool_limits(arguments.threads)
    sound = (0.1 * numpy.random.RandomState(1).standard_normal(RATE * SECONDS)).astype(numpy.float32)

    def maker(kind, mels):
        def logs():
            power = librosa.feature.melspectrogram(y=sound, sr=RATE, n_mels=mels, fmin=20, htk=True, norm=None, **FRAMES)
            return numpy.log(power + 1e-6)

        return logs if kind == "logmel" else lambda: librosa.feature.mfcc(S=logs(), n_mfcc=13)

    return {"librosa": librosa.__version__, "threads": arguments.threads}, maker


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--librosa", action="store_true", help="librosa in place of torchaudio")
    arguments = options_of(parser)
    names = requested_rows(parser, arguments, ROWS)
    versions, maker = (by_librosa if arguments.librosa else by_torchaudio)(arguments)
    print(json.dumps(versions), flush=True)
    for name in names:
        seconds = best(maker(*ROWS[name]), arguments.seconds)
        print(json.dumps({"name": name, "ms": 1e3 * seconds}), flush=True)


if __name__ == "__main__":
    main()
