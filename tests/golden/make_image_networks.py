#!/usr/bin/env python3
"""What PyTorch makes of images by ResNet and EfficientNet-lite, narrow and with weights from a formula.

    peer/bin/python tests/golden/make_image_networks.py        # writes image_networks.safetensors beside it

The networks are written down here once more, from their papers and with the names of torchvision and of the package
efficientnet_lite_pytorch, so that neither table of layers is a copy of the other. Weights and images are not stored: number i
of the tensor called `name` is formula(name, i), which image_networks_test.cc computes, too. In double precision, rounded once.
"""

import json
import math
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

NARROW = 8
RESNETS = {"resnet18": (False, (2, 2, 2, 2)), "resnet34": (False, (3, 4, 6, 3)), "resnet50": (True, (3, 4, 6, 3))}
LITES = {"efficientnet-lite0": (1.0, 1.0), "efficientnet-lite2": (1.1, 1.2), "efficientnet-lite4": (1.4, 1.8)}
# repeats, kernel, stride, expansion, channels
BLOCKS = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192),
          (1, 3, 1, 6, 320))
SHAPE = (2, 3, 33, 47)


def uniform(name, count):
    """In [0, 1): a hash of the name (FNV-1a) and of the place."""
    seed = 2166136261
    for byte in name.encode():
        seed = (seed ^ byte) * 16777619 % 2**32
    u = (seed + np.arange(count, dtype=np.uint64) * 2654435761) % 2**32
    u = (u ^ (u >> 15)) * 2246822519 % 2**32
    u = (u ^ (u >> 13)) * 3266489917 % 2**32
    return (u ^ (u >> 16)).astype(np.float64) / 2**32


def formula(name, shape):
    u = uniform(name, math.prod(shape)).reshape(shape)
    if len(shape) == 4:
        u = (2 * u - 1) * math.sqrt(6 / math.prod(shape[1:]))
    elif name.endswith(".weight"):
        u = 0.5 + u if name.startswith("_") else 0.2 + 0.4 * u  # small in resnets, which add up; 6 is passed in lites
    elif name.endswith(".running_var"):
        u = 0.5 + u
    else:
        u = 0.4 * (u - 0.5)
    return torch.from_numpy(u.astype(np.float32).astype(np.float64))


def narrow(channels):
    return max(8, channels // NARROW)


def norm(x, name, epsilon):
    weight, bias, mean, variance = (formula(name + end, (x.shape[1],))
                                    for end in (".weight", ".bias", ".running_mean", ".running_var"))
    return F.batch_norm(x, mean, variance, weight, bias, eps=epsilon)


def resnet(x, name, last):
    bottleneck, blocks = RESNETS[name]
    mean = torch.tensor([0.485, 0.456, 0.406], dtype=torch.float64).view(1, 3, 1, 1)
    deviation = torch.tensor([0.229, 0.224, 0.225], dtype=torch.float64).view(1, 3, 1, 1)

    def convolve(x, convolution, bn, outputs, kernel, stride):
        weight = formula(convolution + ".weight", (outputs, x.shape[1], kernel, kernel))
        return norm(F.conv2d(x, weight, stride=stride, padding=kernel // 2), bn, 1e-5)

    x = F.relu(convolve((x - mean) / deviation, "conv1", "bn1", narrow(64), 7, 2))
    x = F.max_pool2d(x, 3, 2, 1)
    for stage in range(1, last + 1):
        inner = narrow(64 << stage - 1)
        outer = 4 * inner if bottleneck else inner
        for i in range(blocks[stage - 1]):
            block, stride = f"layer{stage}.{i}.", 2 if i == 0 and stage > 1 else 1
            plan = ((inner, 1, 1), (inner, 3, stride), (outer, 1, 1)) if bottleneck else ((inner, 3, stride), (outer, 3, 1))
            y = x
            for n, (outputs, kernel, step) in enumerate(plan, 1):
                y = convolve(y, f"{block}conv{n}", f"{block}bn{n}", outputs, kernel, step)
                y = F.relu(y) if n < len(plan) else y
            if stride > 1 or x.shape[1] != outer:
                x = convolve(x, block + "downsample.0", block + "downsample.1", outer, 1, stride)
            x = F.relu(x + y)
    return x


def lite(x, name, last):
    wide, deep = LITES[name]

    def convolve(x, convolution, bn, outputs, kernel=1, stride=1, depthwise=False):
        pad = [max((math.ceil(n / stride) - 1) * stride + kernel - n, 0) for n in x.shape[2:]]
        x = F.pad(x, (pad[1] // 2, pad[1] - pad[1] // 2, pad[0] // 2, pad[0] - pad[0] // 2))
        groups = x.shape[1] if depthwise else 1
        weight = formula(convolution + ".weight", (outputs, x.shape[1] // groups, kernel, kernel))
        return norm(F.conv2d(x, weight, stride=stride, groups=groups), bn, 1e-3)

    def widened(channels):
        rounded = max(8, int(channels * wide + 4) // 8 * 8)
        return rounded + 8 if rounded < 0.9 * channels * wide else rounded

    x = F.relu6(convolve((x - 127 / 255) / (128 / 255), "_conv_stem", "_bn0", narrow(32), 3, 2))
    number = 0
    for stage, (repeats, kernel, stride, expand, channels) in enumerate(BLOCKS[:last], 1):
        outputs = narrow(widened(channels))
        for i in range(repeats if stage in (1, len(BLOCKS)) else math.ceil(deep * repeats)):
            block, step, before = f"_blocks.{number}.", stride if i == 0 else 1, x
            number += 1
            hidden = expand * x.shape[1]
            if expand > 1:
                x = F.relu6(convolve(x, block + "_expand_conv", block + "_bn0", hidden))
            x = F.relu6(convolve(x, block + "_depthwise_conv", block + "_bn1", hidden, kernel, step, True))
            x = convolve(x, block + "_project_conv", block + "_bn2", outputs)
            x = x + before if step == 1 and before.shape == x.shape else x
    return F.relu6(convolve(x, "_conv_head", "_bn1", narrow(1280))) if last > len(BLOCKS) else x


CASES = [("resnet18", 4), ("resnet34", 3), ("resnet50", 4), ("efficientnet-lite0", 3), ("efficientnet-lite0", 8),
         ("efficientnet-lite2", 7), ("efficientnet-lite4", 3)]


def main():
    torch.set_num_threads(1)
    images = torch.from_numpy(uniform("images", math.prod(SHAPE)).astype(np.float32).astype(np.float64)).view(SHAPE)
    tensors = {}
    for name, stage in CASES:
        y = (resnet if name in RESNETS else lite)(images, name, stage)
        assert torch.isfinite(y).all()
        tensors[f"{name}.{stage}"] = y.to(torch.float32).contiguous()
    path = Path(__file__).resolve().parent / "image_networks.safetensors"
    settings = {"narrow": NARROW, "shape": SHAPE, "cases": CASES}
    save_file(tensors, path, metadata={"settings": json.dumps(settings, sort_keys=True)})
    path.chmod(0o644)
    print(f"{path.name}: {len(tensors)} tensors, {path.stat().st_size} bytes")
    for name, y in tensors.items():
        print(name, tuple(y.shape), float(y.abs().max()))


if __name__ == "__main__":
    main()
