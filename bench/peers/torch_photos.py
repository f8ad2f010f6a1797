#!/usr/bin/env python3
"""PyTorch on the published networks of images of `make bench`, in inference on photos of 224×224.

    python3 bench/peers/torch_photos.py                                # every row
    python3 bench/peers/torch_photos.py --rows 'photos/resnet50 B1'    # these, separated by commas
    python3 bench/peers/torch_photos.py --list                         # names only

One JSON object per line: {"torch": version, "threads": n}, then {"name": row, "ms": best run in milliseconds}. Modules as
torchvision and efficientnet_lite_pytorch have them, in evaluation mode and inference mode, in the better of both layouts of
images (channels first and last).
"""
import json
import math
import sys

from rows import best, options_of, parser_of, requested_rows, torch_with

SIDE = 224
ROWS = {f"photos/{kind} B{batch}": (kind, batch) for kind in ("resnet50", "efficientnet-lite0") for batch in (1, 16)}
# repeats, kernel, stride, expansion, channels
BLOCKS = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192),
          (1, 3, 1, 6, 320))


def networks(torch):
    nn, F = torch.nn, torch.nn.functional

    def convolution(inputs, outputs, kernel, stride=1, groups=1, padding=None, activation=None):
        padding = kernel // 2 if padding is None else padding
        layers = [nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
        return nn.Sequential(*layers, *([activation(inplace=True)] if activation else []))

    class Bottleneck(nn.Module):
        def __init__(self, inputs, inner, stride):
            super().__init__()
            self.inside = nn.Sequential(convolution(inputs, inner, 1, activation=nn.ReLU),
                                        convolution(inner, inner, 3, stride, activation=nn.ReLU),
                                        convolution(inner, 4 * inner, 1))
            same = stride == 1 and inputs == 4 * inner
            self.beside = nn.Identity() if same else convolution(inputs, 4 * inner, 1, stride)

        def forward(self, x):
            return F.relu(self.inside(x) + self.beside(x), inplace=True)

    class Same(nn.Module):
        """A strided convolution with TensorFlow's padding: for even sizes more of it behind."""

        def __init__(self, inputs, outputs, kernel, groups=1):
            super().__init__()
            before = (kernel - 2) // 2
            self.pad = nn.ZeroPad2d((before, kernel - 2 - before) * 2)
            self.convolve = convolution(inputs, outputs, kernel, 2, groups, 0, nn.ReLU6)

        def forward(self, x):
            return self.convolve(self.pad(x))

    class Inverted(nn.Module):
        def __init__(self, inputs, outputs, kernel, stride, expand):
            super().__init__()
            hidden, layers = inputs * expand, []
            if expand > 1:
                layers.append(convolution(inputs, hidden, 1, activation=nn.ReLU6))
            layers.append(Same(hidden, hidden, kernel, hidden) if stride == 2 else
                          convolution(hidden, hidden, kernel, 1, hidden, activation=nn.ReLU6))
            self.inside = nn.Sequential(*layers, convolution(hidden, outputs, 1))
            self.adds = stride == 1 and inputs == outputs

        def forward(self, x):
            return self.inside(x) + x if self.adds else self.inside(x)

    def resnet50():
        layers, inputs = [convolution(3, 64, 7, 2, activation=nn.ReLU), nn.MaxPool2d(3, 2, 1)], 64
        for stage, blocks in enumerate((3, 4, 6, 3)):
            for block in range(blocks):
                layers.append(Bottleneck(inputs, 64 << stage, 2 if stage > 0 and block == 0 else 1))
                inputs = 4 * 64 << stage
        return nn.Sequential(*layers), (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

    def lite0():
        layers, inputs = [Same(3, 32, 3)], 32
        for repeats, kernel, stride, expand, outputs in BLOCKS:
            for block in range(repeats):
                layers.append(Inverted(inputs, outputs, kernel, stride if block == 0 else 1, expand))
                inputs = outputs
        return nn.Sequential(*layers), (127 / 255,) * 3, (128 / 255,) * 3

    def prepared(kind, batch, layout):
        model, mean, deviation = (resnet50 if kind == "resnet50" else lite0)()
        model = model.eval().to(memory_format=layout)
        mean, deviation = (torch.tensor(v).view(1, 3, 1, 1) for v in (mean, deviation))
        images = torch.rand(batch, 3, SIDE, SIDE).to(memory_format=layout)

        def look():
            with torch.inference_mode():
                return model((images - mean) / deviation)
        side = math.ceil(SIDE / 32)
        assert look().shape == (batch, 2048 if kind == "resnet50" else 320, side, side)
        return look

    return prepared


def main():
    parser = parser_of(__doc__)
    arguments = options_of(parser)
    requested = requested_rows(parser, arguments, ROWS)
    torch = torch_with(arguments.threads)
    prepared = networks(torch)
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads()}), flush=True)
    for name in requested:
        ms = min(best(prepared(*ROWS[name], layout), arguments.seconds) * 1e3
                 for layout in (torch.contiguous_format, torch.channels_last))
        print(json.dumps({"name": name, "ms": float(f"{ms:.6g}")}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
