#!/usr/bin/env python3
"""CTranslate2 (float32) on the Transformer rows of `make bench` that decode: 25 words in, exactly 32 out.

    python3 bench/peers/ctranslate2_decode.py                                    # every row
    python3 bench/peers/ctranslate2_decode.py --rows 'decode/transformer greedy B1'
    python3 bench/peers/ctranslate2_decode.py --list                             # names only

One JSON object per line: {"ctranslate2": version, "threads": most}, then {"name": row, "ms": best run, "threads": n}.
Each row is measured with one thread and with --threads, and the better one counts. The network is random: 3+3 blocks,
256 wide, 4 heads, 1024 inside, norms before, 8000 words.
"""
import json
import sys
import tempfile

from rows import best, options_of, parser_of, requested_rows

LAYERS, WIDTH, HEADS, INNER, VOCABULARY = 3, 256, 4, 1024, 8000
WORDS_IN, WORDS_OUT = 25, 32
ROWS = {f"decode/transformer {kind} B{batch}": (beam, batch)
        for kind, beam in (("greedy", 1), ("beam5", 5)) for batch in (1, 32)}


def random_network(ctranslate2, np, random):
    """A specification whose every parameter is filled in."""
    def words(spec):
        spec.weight = random.standard_normal((VOCABULARY, WIDTH), dtype=np.float32) / np.float32(np.sqrt(WIDTH))

    def dense(spec, inputs, outputs):
        spec.weight = random.standard_normal((outputs, inputs), dtype=np.float32) / np.float32(np.sqrt(inputs))
        spec.bias = np.zeros(outputs, dtype=np.float32)

    def norm(spec):
        spec.gamma = np.ones(WIDTH, dtype=np.float32)
        spec.beta = np.zeros(WIDTH, dtype=np.float32)

    def attention(spec, widths):
        norm(spec.layer_norm)
        for part, outputs in zip(spec.linear, widths):
            dense(part, WIDTH, outputs)

    spec = ctranslate2.specs.TransformerSpec.from_config(num_layers=LAYERS, num_heads=HEADS, pre_norm=True)
    for stack in (spec.encoder, spec.decoder):
        for table in stack.embeddings if isinstance(stack.embeddings, list) else [stack.embeddings]:
            words(table)
        norm(stack.layer_norm)
        for block in stack.layer:
            attention(block.self_attention, (3 * WIDTH, WIDTH))
            if stack is spec.decoder:
                attention(block.attention, (WIDTH, 2 * WIDTH, WIDTH))
            norm(block.ffn.layer_norm)
            dense(block.ffn.linear_0, WIDTH, INNER)
            dense(block.ffn.linear_1, INNER, WIDTH)
    dense(spec.decoder.projection, WIDTH, VOCABULARY)
    vocabulary = ["<unk>", "<s>", "</s>"] + [f"w{i}" for i in range(3, VOCABULARY)]
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.validate()
    spec.optimize()
    return spec


def main():
    parser = parser_of(__doc__)
    arguments = options_of(parser)
    requested = requested_rows(parser, arguments, ROWS)
    try:
        import ctranslate2
        import numpy as np
    except ImportError as error:
        print(f"CTranslate2 or NumPy cannot be imported: {error}", file=sys.stderr)
        return 1
    random = np.random.default_rng(0)
    sources = [[f"w{i}" for i in random.integers(3, VOCABULARY, WORDS_IN)] for _ in range(32)]
    print(json.dumps({"ctranslate2": ctranslate2.__version__, "threads": arguments.threads}), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        random_network(ctranslate2, np, random).save(folder)
        found = {name: (float("inf"), 0) for name in requested}
        for threads in sorted({1, arguments.threads}):
            translator = ctranslate2.Translator(folder, device="cpu", compute_type="float32", inter_threads=1,
                                                intra_threads=threads)
            for name in requested:
                beam, batch = ROWS[name]

                def run():
                    answers = translator.translate_batch(sources[:batch], beam_size=beam, max_batch_size=batch,
                                                         min_decoding_length=WORDS_OUT, max_decoding_length=WORDS_OUT)
                    assert all(len(answer.hypotheses[0]) == WORDS_OUT for answer in answers)

                found[name] = min(found[name], (best(run, arguments.seconds, least=5) * 1e3, threads))
            del translator
    for name, (milliseconds, threads) in found.items():
        print(json.dumps({"name": name, "ms": float(f"{milliseconds:.6g}"), "threads": threads}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
