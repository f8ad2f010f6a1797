#!/usr/bin/env python3
"""PyTorch's speed on the rows of `make bench`, one JSON object per line as soon as it is measured.

    python3 bench/peers/torch_ops.py                                   # every row
    python3 bench/peers/torch_ops.py --rows linear/fb,adam/20M         # these
    python3 bench/peers/torch_ops.py --match 'lstm/.*/fb' --seconds 3  # those whose name contains a match
    python3 bench/peers/torch_ops.py --list                            # names only

The first line is {"torch": version, "threads": n}, the others {"name": row, "ms": best run in milliseconds}. Rows that
end in /fb, and additive, location, cross_entropy, ctc and conv2d, are forward and backward: gradients are cleared before each run and
the backward pass starts from a random cotangent. All others are forward only, without recording. A row that fails (too
little memory) is told on standard error, the rest goes on, and the exit code is 1.
"""
import gc
import json
import sys
from functools import partial

from rows import best, options_of, parser_of, torch_with, requested_rows


def table_of_rows(torch):
    """name -> (function that prepares the inputs and returns what to run, operations in one run).

    Inputs are made only when the row's turn comes, and freed after it.
    """
    nn, F = torch.nn, torch.nn.functional
    rows = {}

    def row(name, prepare, *arguments, operations=1):
        rows[name] = (partial(prepare, *arguments), operations)

    def leaf(*shape):
        return torch.randn(*shape, requires_grad=True)

    def without_recording(forward):
        def run():
            with torch.no_grad():
                forward()
        return run

    def with_backward(forward, leaves, cotangent):
        def run():
            for each in leaves:
                each.grad = None
            forward().backward(cotangent)
        return run

    def linear(backward):
        layer, x = nn.Linear(256, 1024), leaf(1280, 256)
        if not backward:
            return without_recording(lambda: layer(x))
        return with_backward(lambda: layer(x), [x, *layer.parameters()], torch.randn(1280, 1024))

    row("linear/forward", linear, False)
    row("linear/fb", linear, True)

    def recurrent(kind, hidden, batch, backward):
        net, x = kind(hidden, hidden), leaf(40, batch, hidden)
        if not backward:
            return without_recording(lambda: net(x))
        return with_backward(lambda: net(x)[0], [x, *net.parameters()], torch.randn(40, batch, hidden))

    for name, kind in (("lstm", nn.LSTM), ("gru", nn.GRU)):
        for hidden in (256, 512):
            for batch in (64, 8):
                row(f"{name}/H{hidden}/B{batch}/forward", recurrent, kind, hidden, batch, False)
                row(f"{name}/H{hidden}/B{batch}/fb", recurrent, kind, hidden, batch, True)

    def attention(n, causal, backward):
        shape = (max(1, 4096 // n), 8, n, 64)
        q, k, v = leaf(*shape), leaf(*shape), leaf(*shape)
        forward = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        if not backward:
            return without_recording(forward)
        return with_backward(forward, [q, k, v], torch.randn(*shape))

    for n in (512, 1024, 2048, 4096):
        row(f"attention/n{n}/forward", attention, n, False, False)
        row(f"attention/n{n}/fb", attention, n, False, True)
        row(f"attention/n{n}/causal_forward", attention, n, True, False)
        row(f"attention/n{n}/causal_fb", attention, n, True, True)

    # The energies of the additive score, after its projections.
    def additive(length):
        q, k, v = leaf(64, length, 256), leaf(64, length, 256), leaf(256)
        forward = lambda: torch.tanh(q[:, :, None, :] + k[:, None, :, :]) @ v
        return with_backward(forward, [q, k, v], torch.randn(64, length, length))

    for length in (20, 35, 50):
        row(f"additive/T{length}", additive, length)

    def location(places):
        q, k, v, a = leaf(16, 1, 256), leaf(16, places, 256), leaf(256), leaf(16, places)
        filters, z = nn.Conv1d(1, 10, 33, padding=16, bias=False), nn.Linear(10, 256, bias=False)
        forward = lambda: (torch.tanh(q + k + z(filters(a[:, None]).transpose(1, 2))) @ v)[:, None]
        return with_backward(forward, [q, k, v, a, *filters.parameters(), *z.parameters()], torch.randn(16, 1, places))

    for places in (200, 1000):
        row(f"location/T{places}", location, places)

    # Over 16 Mi elements, in rows of 1024: output allocated as usual, and given.
    def fresh(function):
        x = torch.randn(16 << 10, 1024)
        return without_recording(lambda: function(x))

    def reused(function):
        x = torch.randn(16 << 10, 1024)
        out = torch.empty_like(x)
        return without_recording(lambda: function(x, out))

    for name, function, into in (
            ("softmax", lambda x: torch.softmax(x, -1), lambda x, out: torch.softmax(x, -1, out=out)),
            ("tanh", torch.tanh, lambda x, out: torch.tanh(x, out=out)),
            ("sigmoid", torch.sigmoid, lambda x, out: torch.sigmoid(x, out=out)),
            ("exp", torch.exp, lambda x, out: torch.exp(x, out=out)),
            ("gelu", F.gelu, lambda x, out: torch.ops.aten.gelu.out(x, out=out))):
        row(f"{name}/16Mi", fresh, function)
        row(f"{name}/16Mi/reused", reused, into)

    gain, bias, mean, scale = torch.randn(1024), torch.randn(1024), torch.empty(16 << 10, 1), torch.empty(16 << 10, 1)
    row("layer_norm/16Mi", fresh, lambda x: F.layer_norm(x, (1024,), gain, bias))
    row("layer_norm/16Mi/reused", reused, lambda x, out: torch.ops.aten.native_layer_norm.out(
        x, (1024,), gain, bias, 1e-5, out0=out, out1=mean, out2=scale))

    def cross_entropy(classes):
        logits, target = leaf(1280, classes), torch.randint(0, classes, (1280,))
        return with_backward(lambda: F.cross_entropy(logits, target, label_smoothing=0.1), [logits], torch.randn(()))

    for classes in (8000, 32000):
        row(f"cross_entropy/V{classes}", cross_entropy, classes)

    def ctc(classes):
        frames, sounds, labels = 400, 16, 60
        logits, target = leaf(frames, sounds, classes), torch.randint(1, classes, (sounds, labels))
        heard, said = torch.full((sounds,), frames), torch.full((sounds,), labels)
        return with_backward(lambda: F.ctc_loss(F.log_softmax(logits, 2), target, heard, said), [logits], torch.randn(()))

    for classes in (32, 1000):
        row(f"ctc/T400 B16 V{classes}", ctc, classes)

    def adam():
        parameters = [nn.Parameter(torch.randn(1000, 1000)) for _ in range(20)]
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        return torch.optim.Adam(parameters, fused=True).step

    row("adam/20M", adam)

    def conv2d(size, channels, outputs, batch, first=False):
        layer, x = nn.Conv2d(channels, outputs, 3, padding=1), leaf(batch, channels, size, size)
        if first:  # the gradient of the image is not needed
            x = x.detach()
        leaves = [*layer.parameters()] if first else [x, *layer.parameters()]
        return with_backward(lambda: layer(x), leaves, torch.randn(batch, outputs, size, size))

    for size, channels in ((28, 32), (56, 64)):
        for batch in (32, 64):
            row(f"conv2d/{size}x{size}/B{batch}", conv2d, size, channels, 64, batch)
    row("conv2d/stage1 112x112 3-32", conv2d, 112, 3, 32, 32, True)
    row("conv2d/stage2 56x56 32-64", conv2d, 56, 32, 64, 32)
    row("conv2d/stage3 28x28 64-128", conv2d, 28, 64, 128, 32)
    row("conv2d/stage4 14x14 128-256", conv2d, 14, 128, 256, 32)

    # What one small op costs: many in a run, so that reading the clock does not count.
    def small_add(count, recording):
        a, b = torch.randn(4, 4, requires_grad=recording), torch.randn(4, 4)

        def run():
            with torch.set_grad_enabled(recording):
                for _ in range(count):
                    a + b
        return run

    row("add/4x4/recording", small_add, 10000, True, operations=10000)
    row("add/4x4", small_add, 10000, False, operations=10000)
    return rows


def main():
    parser = parser_of(__doc__)
    arguments = options_of(parser)
    torch = torch_with(arguments.threads)
    rows = table_of_rows(torch)
    requested = requested_rows(parser, arguments, rows)
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads()}), flush=True)
    failed = False
    for name in requested:
        run = None
        try:
            prepare, operations = rows[name]
            run = prepare()
            milliseconds = best(run, arguments.seconds) * 1e3 / operations
            print(json.dumps({"name": name, "ms": float(f"{milliseconds:.6g}")}), flush=True)
        except (MemoryError, RuntimeError) as error:
            failed = True
            reason = (str(error).splitlines() or ["out of memory"])[0]
            print(f"{name}: {reason}", file=sys.stderr, flush=True)
        del run
        gc.collect()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
