#!/usr/bin/env python3
"""Makes the golden files of the tests: what PyTorch computes for small, seeded inputs.

    python3 tests/golden/make_goldens.py            # needs torch, numpy and safetensors; writes beside this script

One .safetensors file per subject; README.md in this folder lists the tensors. Inputs are drawn in float32, everything
is computed in float64 and rounded to float32 at the end, so a golden is good to half a float32 unit. Each subject has
its own seed and NumPy's frozen generator: running the script again gives the same bytes.
"""
import argparse
import json
from pathlib import Path

import numpy
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Draw:
    """Random inputs of one subject: float32 values, held as float64 tensors."""

    def __init__(self, seed):
        self.generator = numpy.random.RandomState(seed)

    def normal(self, *shape, scale=1.0, mean=0.0):
        values = self.generator.standard_normal(shape) * scale + mean
        return torch.tensor(values, dtype=torch.float32).to(torch.float64)

    def below(self, count, *shape):
        return torch.tensor(self.generator.randint(0, count, shape), dtype=torch.int64)


def leaf(tensor):
    return tensor.clone().requires_grad_(True)


def gradients(outputs, cotangents, inputs):
    """Gradients of <outputs, cotangents> with respect to `inputs`."""
    return torch.autograd.grad(outputs, inputs, cotangents)


# ---------------------------------------------------------------------------------------------------- recurrent nets

STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6
LENGTHS = [3, 5, 1]
RECURRENT_CASES = {
    "full": (False, [STEPS] * BATCH),
    "lengths": (False, LENGTHS),
    "reverse_full": (True, [STEPS] * BATCH),
    "reverse": (True, LENGTHS),
}


def run_recurrent(module, weights, x, states, lengths, reverse):
    """One direction of `module` (which has both) over a packed batch: y and the final states.

    The weights go to the wanted direction; the other one runs with zeros and is cut off from the results.
    """
    suffix = "_reverse" if reverse else ""
    direction = 1 if reverse else 0
    parameters = {name: torch.zeros_like(value) for name, value in module.named_parameters()}
    parameters.update({name + "_l0" + suffix: value for name, value in weights.items()})
    starts = tuple(torch.stack([s, torch.zeros_like(s)][::-1] if reverse else [s, torch.zeros_like(s)]) for s in states)
    packed = pack_padded_sequence(x, torch.tensor(lengths), enforce_sorted=False)
    y, last = torch.func.functional_call(module, parameters, (packed, starts if len(starts) > 1 else starts[0]))
    y, _ = pad_packed_sequence(y, total_length=STEPS)
    last = last if isinstance(last, tuple) else (last,)
    return [y[:, :, direction * HIDDEN:(direction + 1) * HIDDEN]] + [s[direction] for s in last]


def recurrent(seed, kind, gates, state_names, bias_names):
    """Whole-sequence recurrent nets: outputs, final states and all gradients, with and without lengths, both ways."""
    draw = Draw(seed)
    module = kind(INPUTS, HIDDEN, bidirectional=True).double()
    given = {
        "x": draw.normal(STEPS, BATCH, INPUTS),
        "w_ih": draw.normal(gates * HIDDEN, INPUTS, scale=0.5),
        "w_hh": draw.normal(gates * HIDDEN, HIDDEN, scale=0.5),
    }
    for name in bias_names:
        given[name] = draw.normal(gates * HIDDEN, scale=0.5)
    for name in state_names:
        given[name + "0"] = draw.normal(BATCH, HIDDEN, scale=0.5)
    outputs = ["y"] + [name + "_last" for name in state_names]
    cotangents = {"dy": draw.normal(STEPS, BATCH, HIDDEN)}
    for name in outputs[1:]:
        cotangents["d" + name] = draw.normal(BATCH, HIDDEN)

    result = {**given, **cotangents, "lengths": torch.tensor(LENGTHS)}
    for case, (reverse, lengths) in RECURRENT_CASES.items():
        inputs = {name: leaf(value) for name, value in given.items()}
        # With one bias, PyTorch's second one is zero: the sum is what counts.
        weights = {
            "weight_ih": inputs["w_ih"],
            "weight_hh": inputs["w_hh"],
            "bias_ih": inputs[bias_names[0]],
            "bias_hh": inputs[bias_names[1]] if len(bias_names) > 1 else torch.zeros_like(inputs[bias_names[0]]),
        }
        states = [inputs[name + "0"] for name in state_names]
        values = run_recurrent(module, weights, inputs["x"], states, lengths, reverse)
        result.update({f"{case}.{name}": value for name, value in zip(outputs, values)})
        slopes = gradients(values, list(cotangents.values()), list(inputs.values()))
        result.update({f"{case}.d{name}": slope for name, slope in zip(inputs, slopes)})
    return result


def lstm():
    return recurrent(1, torch.nn.LSTM, 4, ["h", "c"], ["b"])


def gru():
    return recurrent(2, torch.nn.GRU, 3, ["h"], ["b_ih", "b_hh"])


def rnn():
    return recurrent(3, torch.nn.RNN, 1, ["h"], ["b"])


# --------------------------------------------------------------------------------------------------------- attention

ATTENTION_GROUPS = {
    # name: batch, queries, keys, heads, depth, keys that count per sequence, window
    "wide": (2, 5, 7, 2, 4, [7, 2], 1),
    "tall": (2, 7, 5, 2, 4, [3, 5], 2),
    "long": (1, 66, 131, 1, 8, [97], 20),
}
ATTENTION_MASKS = {
    # name: padding, causal, window
    "none": (False, False, False),
    "padding": (True, False, False),
    "causal": (False, True, False),
    "causal_padding": (True, True, False),
    "window": (False, False, True),
    "window_padding": (True, False, True),
    "causal_window": (False, True, True),
}


def attend(q, k, v, heads, lengths=None, causal=False, window=None):
    """softmax(q·kᵀ/√d)·v per head; heads are column slices of q, k and v."""
    batch, queries, keys = q.shape[0], q.shape[1], k.shape[1]
    split = lambda t: t.view(batch, t.shape[1], heads, -1).transpose(1, 2)
    if lengths is None and window is None:
        y = F.scaled_dot_product_attention(split(q), split(k), split(v), is_causal=causal)
    else:
        i, j = torch.arange(queries)[:, None], torch.arange(keys)[None, :]
        allowed = torch.ones(batch, 1, queries, keys, dtype=torch.bool)
        if lengths is not None:
            allowed &= (j < torch.tensor(lengths)[:, None, None])[:, None]
        if causal:
            allowed &= j <= i
        if window is not None:
            allowed &= (i - j).abs() <= window
        y = F.scaled_dot_product_attention(split(q), split(k), split(v), attn_mask=allowed)
    return y.transpose(1, 2).reshape(batch, queries, -1)


def attention():
    """The multi-head core with every mask; a query that may see no key gives zeros."""
    draw, result = Draw(4), {}
    for group, (batch, queries, keys, heads, depth, lengths, window) in ATTENTION_GROUPS.items():
        given = {
            "q": draw.normal(batch, queries, heads * depth),
            "k": draw.normal(batch, keys, heads * depth),
            "v": draw.normal(batch, keys, heads * depth),
        }
        dy = draw.normal(batch, queries, heads * depth)
        shared = {**given, "dy": dy, "lengths": torch.tensor(lengths), "heads": torch.tensor([heads]),
                  "window": torch.tensor([window])}
        result.update({f"{group}.{name}": value for name, value in shared.items()})
        for mask, (padding, causal, windowed) in ATTENTION_MASKS.items():
            inputs = {name: leaf(value) for name, value in given.items()}
            y = attend(*inputs.values(), heads, lengths if padding else None, causal, window if windowed else None)
            slopes = gradients(y, dy, list(inputs.values()))
            result[f"{group}.{mask}.y"] = y
            result.update({f"{group}.{mask}.d{name}": slope for name, slope in zip(inputs, slopes)})
    return result


MULTIHEAD = dict(embed_dim=8, num_heads=4, kdim=6, vdim=10)
MULTIHEAD_LENGTHS = [7, 3]


def multihead():
    """torch.nn.MultiheadAttention, with widths of keys and values of their own; nine queries, seven keys, padding."""
    draw = Draw(14)
    module = torch.nn.MultiheadAttention(**MULTIHEAD, batch_first=True).double()
    given = {"q": draw.normal(2, 9, 8), "k": draw.normal(2, 7, 6), "v": draw.normal(2, 7, 10)}
    weights = {name: draw.normal(*value.shape, scale=0.5) for name, value in module.named_parameters()}
    dy = draw.normal(2, 9, 8)
    lengths = torch.tensor(MULTIHEAD_LENGTHS)
    inputs = {name: leaf(value) for name, value in {**given, **weights}.items()}
    y, attention_weights = torch.func.functional_call(
        module, {name: inputs[name] for name in weights}, (inputs["q"], inputs["k"], inputs["v"]),
        dict(key_padding_mask=torch.arange(7)[None, :] >= lengths[:, None], average_attn_weights=False))
    slopes = gradients(y, dy, list(inputs.values()))
    return {**given, **weights, "lengths": lengths, "dy": dy, "y": y, "weights": attention_weights,
            **{"d" + name: slope for name, slope in zip(inputs, slopes)}}


def decoder_step(seed, shapes, run):
    """One step of a decoder that reads encoder states h [B,T,K] with its own state s [B,Q]; `run` gives the outputs."""
    draw = Draw(seed)
    given = {"s": draw.normal(3, 6), "h": draw.normal(3, 5, 4)}
    given.update({name: draw.normal(*shape, scale=0.5) for name, shape in shapes.items()})
    lengths = torch.tensor([5, 2, 4])
    inputs = {name: leaf(value) for name, value in given.items()}
    outputs = run(lengths=lengths, **inputs)
    cotangents = {"d" + name: draw.normal(*value.shape) for name, value in outputs.items()}
    slopes = gradients(list(outputs.values()), list(cotangents.values()), list(inputs.values()))
    return {**given, **cotangents, **outputs, "lengths": lengths,
            **{"d" + name: slope for name, slope in zip(inputs, slopes)}}


def read_states(energies, h, lengths):
    """Weights [B,T] over the states that count, and the context [B,K]."""
    weights = energies.masked_fill(torch.arange(h.shape[1])[None, :] >= lengths[:, None], -torch.inf).softmax(-1)
    return weights, torch.einsum("bt,btk->bk", weights, h)


def bahdanau():
    def run(s, h, w, u, b, v, lengths):
        weights, context = read_states(torch.tanh((s @ w.T)[:, None] + h @ u.T + b) @ v, h, lengths)
        return {"weights": weights, "context": context}

    return decoder_step(12, {"w": (7, 6), "u": (7, 4), "b": (7,), "v": (7,)}, run)


def luong():
    def run(s, h, w, wc, lengths):
        weights, context = read_states(torch.einsum("bq,qk,btk->bt", s, w, h), h, lengths)
        return {"weights": weights, "attentional": torch.tanh(torch.cat([context, s], -1) @ wc.T)}

    return decoder_step(13, {"w": (6, 4), "wc": (6, 10)}, run)


TRANSFORMER = dict(d_model=8, nhead=2, dim_feedforward=12, dropout=0.0, activation="relu", batch_first=True)
SOURCE_LENGTHS, SOURCE_STEPS, TARGET_STEPS = [9, 4], 9, 8


def transformer_layer(seed, kind, targets):
    """A layer of torch.nn's Transformer, norms after and before each part. An encoder layer reads a padded source; a
    decoder layer reads targets, causally, and that source as its memory."""
    draw, size = Draw(seed), TRANSFORMER["d_model"]
    lengths = torch.tensor(SOURCE_LENGTHS)
    padding = torch.arange(SOURCE_STEPS)[None, :] >= lengths[:, None]
    source = draw.normal(len(lengths), SOURCE_STEPS, size)
    if targets:
        given = {"x": draw.normal(len(lengths), TARGET_STEPS, size), "memory": source}
        later = torch.ones(TARGET_STEPS, TARGET_STEPS, dtype=torch.bool).triu(1)
        masks = dict(tgt_mask=later, memory_key_padding_mask=padding)
    else:
        given, masks = {"x": source}, dict(src_key_padding_mask=padding)
    dy = draw.normal(*given["x"].shape)
    weights = {name: draw.normal(*value.shape, scale=0.5, mean=1.0 if "norm" in name and "weight" in name else 0.0)
               for name, value in kind(**TRANSFORMER).named_parameters()}
    result = {**given, **weights, "lengths": lengths, "dy": dy}
    for case, before in (("post", False), ("pre", True)):
        module = kind(**TRANSFORMER, norm_first=before).double()
        inputs = {name: leaf(value) for name, value in {**given, **weights}.items()}
        y = torch.func.functional_call(module, {name: inputs[name] for name in weights},
                                       tuple(inputs[name] for name in given), masks)
        slopes = gradients(y, dy, list(inputs.values()))
        result.update({f"{case}.y": y, **{f"{case}.d{name}": slope for name, slope in zip(inputs, slopes)}})
    return result


def transformer_encoder():
    return transformer_layer(15, torch.nn.TransformerEncoderLayer, targets=False)


def transformer_decoder():
    return transformer_layer(16, torch.nn.TransformerDecoderLayer, targets=True)


# ------------------------------------------------------------------------------------------------- layers and losses


def layer_norm():
    draw = Draw(5)
    given = {"x": draw.normal(7, 33, scale=2, mean=1), "gain": draw.normal(33), "bias": draw.normal(33)}
    dy, inputs = draw.normal(7, 33), {name: leaf(value) for name, value in given.items()}
    y = F.layer_norm(inputs["x"], (33,), inputs["gain"], inputs["bias"], eps=1e-5)
    slopes = gradients(y, dy, list(inputs.values()))
    return {**given, "dy": dy, "y": y, **{"d" + name: slope for name, slope in zip(inputs, slopes)}}


CONVOLUTIONS = {
    "stride1_padding1": dict(stride=1, padding=1),
    "stride2_padding0": dict(stride=2, padding=0),
}


def conv2d():
    draw = Draw(6)
    given = {"x": draw.normal(2, 3, 9, 8), "w": draw.normal(4, 3, 3, 3, scale=0.3), "b": draw.normal(4)}
    result = dict(given)
    for case, options in CONVOLUTIONS.items():
        inputs = {name: leaf(value) for name, value in given.items()}
        y = F.conv2d(*inputs.values(), **options)
        dy = draw.normal(*y.shape)
        slopes = gradients(y, dy, list(inputs.values()))
        result.update({f"{case}.y": y, f"{case}.dy": dy})
        result.update({f"{case}.d{name}": slope for name, slope in zip(inputs, slopes)})
    return result


POOLING = dict(kernel_size=3, stride=2, padding=1)


def pool2d():
    draw = Draw(10)
    x, dy = draw.normal(2, 3, 9, 8), draw.normal(2, 3, 5, 4)
    result = {"x": x, "dy": dy}
    for case, function in (("max", F.max_pool2d), ("average", F.avg_pool2d)):
        inputs = leaf(x)
        y = function(inputs, **POOLING)
        result.update({f"{case}.y": y, f"{case}.dx": gradients(y, dy, [inputs])[0]})
    return result


def cross_entropy():
    """Mean over the rows whose target is not ignored; `dloss` is the cotangent of that mean."""
    draw, rows, classes, ignored = Draw(7), 9, 11, -100
    logits, targets = draw.normal(rows, classes, scale=2), draw.below(classes, rows)
    targets[[2, 7]] = ignored
    dloss = torch.tensor(0.75, dtype=torch.float64)
    result = {"logits": logits, "targets": targets, "dloss": dloss}
    for case, smoothing in (("plain", 0.0), ("smoothed", 0.1)):
        x = leaf(logits)
        loss = F.cross_entropy(x, targets, ignore_index=ignored, label_smoothing=smoothing)
        result.update({f"{case}.loss": loss, f"{case}.dlogits": gradients(loss, dloss, [x])[0]})
    return result


CTC_CASES = {
    # name: blank, frames of each sequence, targets
    "plain": (0, [7, 5, 6, 3], [[1, 2, 2], [3], [4, 1, 4], []]),
    "blank_last": (4, [7, 7, 4, 2], [[0, 0, 0], [3, 2, 1, 0], [1], [2, 3]]),
    "impossible": (0, [7, 5, 3, 2], [[1, 2, 2], [3, 3, 3, 1], [4, 1, 4], [1, 1]]),
}


def ctc():
    """Mean over the sequences of -log p(target); targets that do not fit count as 0."""
    draw, steps, batch, classes = Draw(11), 7, 4, 5
    logits = draw.normal(steps, batch, classes, scale=2)
    dloss = torch.tensor(0.75, dtype=torch.float64)
    result = {"logits": logits, "dloss": dloss}
    for case, (blank, lengths, targets) in CTC_CASES.items():
        x = leaf(logits)
        flat = torch.tensor([label for target in targets for label in target])
        loss = F.ctc_loss(F.log_softmax(x, -1), flat, torch.tensor(lengths), torch.tensor([len(t) for t in targets]),
                          blank=blank, reduction="sum", zero_infinity=True) / batch
        result.update({f"{case}.loss": loss, f"{case}.dlogits": gradients(loss, dloss, [x])[0]})
    return result


def activations():
    """gelu (by the error function), and softmax and log-softmax over the last axis, also with masked elements."""
    draw = Draw(8)
    x, dy = draw.normal(4, 9, scale=2), draw.normal(4, 9)
    mask = torch.ones(4, 9, dtype=torch.bool)
    mask[0, 5:], mask[1, ::2], mask[2, 1:] = False, False, False
    masked = lambda t: t.masked_fill(~mask, float("-inf"))
    result = {"x": x, "dy": dy, "mask": mask}
    for name, function in (("gelu", F.gelu), ("softmax", lambda t: F.softmax(t, -1)),
                           ("log_softmax", lambda t: F.log_softmax(t, -1)),
                           ("masked_softmax", lambda t: F.softmax(masked(t), -1))):
        inputs = leaf(x)
        y = function(inputs)
        result.update({f"{name}.y": y, f"{name}.dx": gradients(y, dy, [inputs])[0]})
    return result


# -------------------------------------------------------------------------------------------------------- optimisers

OPTIMISER_STEPS = 10
OPTIMISERS = {
    "sgd": (torch.optim.SGD, dict(lr=0.1)),
    "sgd_momentum": (torch.optim.SGD, dict(lr=0.1, momentum=0.9)),
    "sgd_momentum_decay": (torch.optim.SGD, dict(lr=0.1, momentum=0.9, weight_decay=0.01)),
    "sgd_nesterov": (torch.optim.SGD, dict(lr=0.1, momentum=0.9, nesterov=True)),
    "sgd_nesterov_decay": (torch.optim.SGD, dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)),
    "adam": (torch.optim.Adam, dict(lr=0.01)),
    "adam_decay": (torch.optim.Adam, dict(lr=0.01, weight_decay=0.01)),
    "adamw": (torch.optim.AdamW, dict(lr=0.01, weight_decay=0.0)),
    "adamw_decay": (torch.optim.AdamW, dict(lr=0.01, weight_decay=0.01)),
    "adadelta": (torch.optim.Adadelta, dict(lr=1.0)),
    "adadelta_decay": (torch.optim.Adadelta, dict(lr=1.0, weight_decay=0.01)),
}
HYPER_PARAMETERS = ("lr", "momentum", "dampening", "nesterov", "betas", "rho", "eps", "weight_decay")


def optimisers():
    """Parameter values after each of ten steps with given gradients."""
    draw = Draw(9)
    start = {"a": draw.normal(3, 5), "b": draw.normal(7)}
    slopes = {name: draw.normal(OPTIMISER_STEPS, *value.shape) for name, value in start.items()}
    result = {f"{name}.start": value for name, value in start.items()}
    result.update({f"{name}.gradients": value for name, value in slopes.items()})
    for case, (kind, options) in OPTIMISERS.items():
        parameters = {name: leaf(value) for name, value in start.items()}
        optimiser, path = kind(parameters.values(), **options), {name: [] for name in parameters}
        for step in range(OPTIMISER_STEPS):
            for name, parameter in parameters.items():
                parameter.grad = slopes[name][step].clone()
            optimiser.step()
            for name, parameter in parameters.items():
                path[name].append(parameter.detach().clone())
        result.update({f"{case}.{name}": torch.stack(values) for name, values in path.items()})
    return result


def optimiser_settings():
    """Every hyper-parameter that was used, defaults included."""
    settings = {}
    for case, (kind, options) in OPTIMISERS.items():
        defaults = kind([torch.zeros(1)], **options).defaults
        settings[case] = {name: defaults[name] for name in HYPER_PARAMETERS if name in defaults}
    return settings


# ------------------------------------------------------------------------------------------------- networks of answers

ANSWERS = {"words": 11, "size": 5, "documents": [7, 3, 5], "questions": [2, 4, 1], "spans": [[2, 4], [0, 0], [4, 4]],
           "cells": 3, "labels": 6, "hops": 3}


def asked(draw):
    """Documents and questions of several lengths, padded with 0."""
    texts = []
    for lengths in (ANSWERS["documents"], ANSWERS["questions"]):
        ids = 4 + draw.below(ANSWERS["words"] - 4, len(lengths), max(lengths))
        for row, length in zip(ids, lengths):
            row[length:] = 0
        texts.append(ids)
    return texts


def both_ways(x, lengths, weights, name, layers=1):
    """A stack of LSTMs over x [B,T,I] by its cells, one row and one step at a time; padding gives 0."""
    for layer in range(layers):
        sides = []
        for direction in ("forward", "backward"):
            w, u, b = (weights[f"{name}.{layer}.{direction}.{part}"] for part in ("input_weight", "state_weight", "bias"))
            size = u.shape[1]
            rows = []
            for row, length in zip(x, lengths):
                h = c = torch.zeros(size, dtype=x.dtype)
                said = [torch.zeros(size, dtype=x.dtype)] * len(row)
                for t in (range(length) if direction == "forward" else reversed(range(length))):
                    i, f, g, o = (w @ row[t] + u @ h + b).view(4, size)
                    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                    h = torch.sigmoid(o) * torch.tanh(c)
                    said[t] = h
                rows.append(torch.stack(said))
            sides.append(torch.stack(rows))
        x = torch.cat(sides, 2)
    return x


def reader():
    """The pointers of a reader (Seo et al. 2017), the loss of spans, and the gradients of all weights."""
    draw, size = Draw(21), ANSWERS["size"]
    document, question = asked(draw)
    shapes = {"encoder.words.table": (ANSWERS["words"], size), "encoder.words.marks.table": (3, size)}
    for part in ("query", "key", "both"):
        shapes["attention.score." + part] = (1, 2 * size) if part == "query" else (2 * size,)
    for name, width in (("encoder.layers.0", size), ("modelling.0", 8 * size), ("modelling.1", 2 * size),
                        ("last.0", 2 * size)):
        for direction in ("forward", "backward"):
            shapes[f"{name}.{direction}.input_weight"] = (4 * size, width)
            shapes[f"{name}.{direction}.state_weight"] = (4 * size, size)
            shapes[f"{name}.{direction}.bias"] = (4 * size,)
    shapes.update({"pointers.weight": (2, 8 * size), "pointers.bias": (2,), "start.weight": (1, 2 * size),
                   "end.weight": (1, 2 * size)})
    given = {name: draw.normal(*shape, scale=0.6) for name, shape in shapes.items()}
    weights = {name: leaf(value) for name, value in given.items()}
    lengths, asked_lengths = ANSWERS["documents"], ANSWERS["questions"]
    shared = torch.tensor([[int(w != 0 and w in q) for w in d] for d, q in zip(document.tolist(), question.tolist())])
    words, marks = weights["encoder.words.table"], weights["encoder.words.marks.table"]
    h = both_ways(words[document] + marks[shared], lengths, weights, "encoder.layers")
    u = both_ways(words[question] + marks[2], asked_lengths, weights, "encoder.layers")
    start, end = [], []
    met = torch.zeros(len(lengths), max(lengths), 8 * size, dtype=h.dtype)
    for b, (T, J) in enumerate(zip(lengths, asked_lengths)):
        w = torch.cat([weights["attention.score." + part].flatten() for part in ("query", "key", "both")])
        scores = torch.stack([torch.stack([w @ torch.cat((h[b, t], u[b, j], h[b, t] * u[b, j])) for j in range(J)])
                              for t in range(T)])
        read = torch.softmax(scores, 1) @ u[b, :J]
        of_document = torch.softmax(scores.max(1).values, 0) @ h[b, :T]
        met[b, :T] = torch.cat((h[b, :T], read, h[b, :T] * read, h[b, :T] * of_document), 1)
    m = both_ways(met, lengths, weights, "modelling", 2)
    m2 = both_ways(m, lengths, weights, "last")
    pointers = {}
    for i, (name, states) in enumerate((("start", m), ("end", m2))):
        pointers[name] = met @ weights["pointers.weight"][i] + states @ weights[name + ".weight"][0] \
            + weights["pointers.bias"][i]
    losses = {"joint": [], "apart": []}
    for b, (T, (first, last)) in enumerate(zip(lengths, ANSWERS["spans"])):
        start, end = pointers["start"][b, :T], pointers["end"][b, :T]
        spans = torch.stack([start[s] + end[e] for s in range(T) for e in range(s, T)])
        losses["joint"].append(torch.logsumexp(spans, 0) - start[first] - end[last])
        losses["apart"].append(-torch.log_softmax(start, 0)[first] - torch.log_softmax(end, 0)[last])
    losses = {name: sum(all_of) / (2 * len(lengths)) for name, all_of in losses.items()}
    slopes = gradients([losses["joint"]], [torch.ones((), dtype=h.dtype)], list(weights.values()))
    result = {"document": document, "question": question, **given, "loss.joint": losses["joint"], "loss.apart": losses["apart"]}
    beyond = torch.arange(max(lengths)) >= torch.tensor(lengths).unsqueeze(1)
    result.update({name: value.masked_fill(beyond, 0) for name, value in pointers.items()})
    result.update({"d" + name: slope for name, slope in zip(weights, slopes)})
    return result


MEMORY = {**ANSWERS, "positions": 4, "label_words": [4, -1, 7, 10, -1, 5]}


def memory():
    """The logits of a memory with hops (Sukhbaatar et al. 2015), adjacent and layer-wise, and as the authors' program computes
    them (github.com/facebook/MemNN: a weight for each place of any sentence, cells without a sentence, answers that have the
    vectors of the last hop's words); soft and linear."""
    draw, size, hops, cells = Draw(22), ANSWERS["size"], ANSWERS["hops"], ANSWERS["cells"]
    document, question = asked(draw)
    result = {"document": document, "question": question}
    for kind in ("adjacent", "layerwise", "program"):
        adjacent, program = kind != "layerwise", kind == "program"
        tables = hops + 1 if adjacent else 2
        shapes = {}
        for i in range(tables):
            shapes.update({f"encoder.words.{i}": (ANSWERS["words"], size), f"encoder.ages.{i}": (cells, size)})
        if not adjacent:
            shapes.update({"encoder.question": (ANSWERS["words"], size), "encoder.state": (size, size)})
        if program:
            shapes.update({"answers": (MEMORY["label_words"].count(-1), size)})
        else:
            shapes.update({"output.weight": (ANSWERS["labels"], size), "output.bias": (ANSWERS["labels"],)})
        weights = {name: draw.normal(*shape, scale=0.4) for name, shape in shapes.items()}
        result.update({f"{kind}.{name}": value for name, value in weights.items()})

        def count(k, j, J):
            if program:
                J = MEMORY["positions"]
                return 1 + 4 * (k - (size + 1) / 2) * (j - (J + 1) / 2) / size / J
            return (1 - j / J) - k / size * (1 - 2 * j / J)

        def sentence(words, table):
            place = [[count(k, j, len(words)) for k in range(1, size + 1)] for j in range(1, len(words) + 1)]
            return (torch.tensor(place, dtype=torch.float64) * table[words]).sum(0)

        # To the program an age is the last word of a sentence.
        age = torch.tensor([count(k, MEMORY["positions"], 0) if program else 1 for k in range(1, size + 1)])
        for align in ("soft", "linear"):
            logits = []
            for b, (T, J) in enumerate(zip(ANSWERS["documents"], ANSWERS["questions"])):
                # Sentences of two words each, of which the last ones are remembered.
                kept = [document[b, t:min(t + 2, T)] for t in range(0, T, 2)][-cells:]
                empty = [torch.zeros(size, dtype=torch.float64)] * (cells - len(kept) if program else 0)
                u = sentence(question[b, :J], weights["encoder.words.0" if adjacent else "encoder.question"])
                for hop in range(hops):
                    key = hop if adjacent else 0
                    m, c = (torch.stack([sentence(s, weights[f"encoder.words.{i}"])
                                         + age * weights[f"encoder.ages.{i}"][len(kept) - 1 - place]
                                         for place, s in enumerate(kept)] + empty) for i in (key, key + 1))
                    energies = m @ u
                    shares = torch.softmax(energies, 0) if align == "soft" else energies
                    u = (u if adjacent else weights["encoder.state"] @ u) + shares @ c
                if program:
                    own = iter(weights["answers"])
                    rows = [next(own) if w < 0 else weights[f"encoder.words.{hops}"][w] for w in MEMORY["label_words"]]
                    logits.append(torch.stack(rows) @ u)
                else:
                    logits.append(weights["output.weight"] @ u + weights["output.bias"])
            result[f"{kind}.{align}"] = torch.stack(logits)
    return result


# -------------------------------------------------------------------------------------------------------------- files

SUBJECTS = {
    # file: (function, what its numbers need to be understood)
    "lstm": (lstm, {"gates": "i,f,g,o", "reverse": [name for name, (back, _) in RECURRENT_CASES.items() if back]}),
    "gru": (gru, {"gates": "r,z,n", "n": "tanh(W_in x + b_in + r*(W_hn h + b_hn))", "h'": "(1-z)*n + z*h"}),
    "rnn": (rnn, {"h'": "tanh(W_ih x + W_hh h + b)"}),
    "attention": (attention, {"scale": "1/sqrt(depth)", "causal": "key j <= query i", "window": "|i-j| <= window"}),
    "multihead": (multihead, {**MULTIHEAD, "scale": "1/sqrt(depth)"}),
    "bahdanau": (bahdanau, {"energies": "v.tanh(W s + U h + b)"}),
    "luong": (luong, {"energies": "s.W h", "attentional": "tanh(Wc [context;s])"}),
    "transformer_encoder": (transformer_encoder, TRANSFORMER),
    "transformer_decoder": (transformer_decoder, TRANSFORMER),
    "layer_norm": (layer_norm, {"eps": 1e-5}),
    "conv2d": (conv2d, {"layout": "x [N,C,H,W], w [O,C,kh,kw]", "cases": CONVOLUTIONS}),
    "pool2d": (pool2d, {**POOLING, "average": "over kernel*kernel, padding counts as zeros"}),
    "cross_entropy": (cross_entropy, {"ignore_index": -100, "label_smoothing": {"plain": 0.0, "smoothed": 0.1}}),
    "ctc": (ctc, {case: dict(zip(("blank", "lengths", "targets"), given)) for case, given in CTC_CASES.items()}),
    "activations": (activations, {"gelu": "x*Phi(x), error function", "axis": -1}),
    "optimisers": (optimisers, optimiser_settings()),
    "reader": (reader, ANSWERS),
    "memory": (memory, MEMORY),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent, help="folder to write to")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for name, (make, settings) in SUBJECTS.items():
        tensors = {key: value.detach().to(torch.float32).contiguous() for key, value in make().items()}
        for key, value in tensors.items():
            assert torch.isfinite(value).all(), f"{name}: {key} is not finite"
        path = arguments.out / f"{name}.safetensors"
        # One metadata key only: the order of several is not fixed, and the file would differ from run to run.
        save_file(tensors, path, metadata={"settings": json.dumps(settings, sort_keys=True)})
        path.chmod(0o644)
        print(f"{path.name}: {len(tensors)} tensors, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
