#!/usr/bin/env python3
"""PyTorch on the whole networks of `make bench`: training steps, their memory, and recurrent decoding.

    python3 bench/peers/torch_models.py                                        # every row
    python3 bench/peers/torch_models.py --rows 'step/gru additive B64 V1000'   # these, separated by commas
    python3 bench/peers/torch_models.py --compiled --match '^step/gru.*V8000'  # by torch.compile; minutes to warm up
    python3 bench/peers/torch_models.py --list                                 # names only

One JSON object per line: {"torch": version, "threads": n}, then {"name": row, "ms": best run, "peak_mb": peak so far} in
milliseconds and MiB. A row memory/… trains three steps in a process of its own and has no "ms".
"""
import argparse
import gc
import json
import subprocess
import sys
import warnings

from rows import best, options_of, parser_of, torch_with, requested_rows

WORD, HIDDEN = 256, 256
BEGIN, FORBIDDEN = 2, [0, 2, 3]  # padding, beginning and end are never said: the answers have a fixed length
WORDS_IN, WORDS_OUT = 25, 32

# name: (cell, score, batch, vocabulary), or None for the Transformer
TRAINED = {
    "gru additive B64 V8000": ("gru", "additive", 64, 8000),
    "lstm general B64 V8000": ("lstm", "general", 64, 8000),
    "gru additive B64 V1000": ("gru", "additive", 64, 1000),
    "gru additive B16 V1000": ("gru", "additive", 16, 1000),
    "transformer 3+3 d256 B128 V8000": None,
}
CAPTIONED = "captioner 112x112 B32x5 V5000"
DECODED = {f"decode/recurrent {kind} B{batch}": (beam, batch)
           for kind, beam in (("greedy", 1), ("beam5", 5)) for batch in (1, 32)}


def peak_mebibytes():
    """The peak resident memory of this process; getrusage would start at what its parent had."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024
    except (OSError, StopIteration):
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def networks(torch):
    """The classes, which exist only if PyTorch does."""
    nn, F = torch.nn, torch.nn.functional

    class Recurrent(nn.Module):
        """Bidirectional encoder; a decoder whose last state is the query before each update (Bahdanau et al. 2015)."""

        def __init__(self, cell, score, vocabulary):
            super().__init__()
            self.lstm, self.additive = cell == "lstm", score == "additive"
            self.source_words = nn.Embedding(vocabulary, WORD)
            self.target_words = nn.Embedding(vocabulary, WORD)
            self.encoder = (nn.LSTM if self.lstm else nn.GRU)(WORD, HIDDEN, bidirectional=True, batch_first=True)
            self.bridge = nn.Linear(2 * HIDDEN, HIDDEN)
            self.key = nn.Linear(2 * HIDDEN, HIDDEN)
            if self.additive:
                self.query = nn.Linear(HIDDEN, HIDDEN)
                self.vector = nn.Linear(HIDDEN, 1, bias=False)
            self.cell = (nn.LSTMCell if self.lstm else nn.GRUCell)(WORD + 2 * HIDDEN, HIDDEN)
            self.output = nn.Linear(HIDDEN + 2 * HIDDEN + WORD, vocabulary)

        def read(self, source):
            """-> memory [B,S,2H], keys [B,S,H], first state."""
            memory, last = self.encoder(self.source_words(source))
            last = last[0] if self.lstm else last
            h = torch.tanh(self.bridge(torch.cat((last[0], last[1]), 1)))
            return memory, self.key(memory), (h, torch.zeros_like(h)) if self.lstm else h

        def update(self, word, memory, keys, state):
            """One step: -> what the output layer reads, next state."""
            h = state[0] if self.lstm else state
            if self.additive:
                energies = self.vector(torch.tanh(keys + self.query(h).unsqueeze(1))).squeeze(2)
            else:
                energies = torch.bmm(keys, h.unsqueeze(2)).squeeze(2)
            context = torch.bmm(torch.softmax(energies, 1).unsqueeze(1), memory).squeeze(1)
            state = self.cell(torch.cat((word, context), 1), state)
            return torch.cat((state[0] if self.lstm else state, context, word), 1), state

        def forward(self, source, inputs):
            memory, keys, state = self.read(source)
            words, said = self.target_words(inputs), []
            for word in words.unbind(1):
                features, state = self.update(word, memory, keys, state)
                said.append(features)
            return self.output(torch.stack(said, 1))

        def greedy(self, source):
            memory, keys, state = self.read(source)
            word, answer = torch.full((len(source),), BEGIN), []
            for _ in range(WORDS_OUT):
                features, state = self.update(self.target_words(word), memory, keys, state)
                logits = self.output(features)
                logits[:, FORBIDDEN] = float("-inf")
                word = logits.argmax(1)
                answer.append(word)
            return torch.stack(answer, 1)

        def beam(self, source, size):
            """For a GRU. The hypotheses of a sentence read the same memory, so only their states are reordered."""
            memory, keys, state = self.read(source)
            count = len(source)
            features, state = self.update(self.target_words(torch.full((count,), BEGIN)), memory, keys, state)
            memory, keys = memory.repeat_interleave(size, 0), keys.repeat_interleave(size, 0)
            first = torch.arange(count).unsqueeze(1)  # row of each sentence's first hypothesis
            scores, width, words, parents = torch.zeros(count, 1), 1, [], []
            while True:
                log_p = torch.log_softmax(self.output(features), 1)
                log_p[:, FORBIDDEN] = float("-inf")
                vocabulary = log_p.shape[1]
                total = scores.unsqueeze(2) + log_p.view(count, width, vocabulary)
                scores, place = total.view(count, -1).topk(size, 1)
                words.append(place % vocabulary)
                parents.append(place // vocabulary)
                if len(words) == WORDS_OUT:
                    break
                state = state.index_select(0, (first * width + parents[-1]).view(-1))
                features, state = self.update(self.target_words(words[-1].view(-1)), memory, keys, state)
                width = size
            at, answer = scores.argmax(1, keepdim=True), []
            for word, parent in zip(reversed(words), reversed(parents)):
                answer.append(word.gather(1, at))
                at = parent.gather(1, at)
            return torch.cat(answer[::-1], 1)

    class Transformer(nn.Module):
        """3+3 blocks; one table of words for both sides, an output layer of its own."""

        def __init__(self, vocabulary):
            super().__init__()
            self.words = nn.Embedding(vocabulary, 256)
            self.blocks = nn.Transformer(d_model=256, nhead=4, num_encoder_layers=3, num_decoder_layers=3,
                                         dim_feedforward=1024, dropout=0.1, batch_first=True, norm_first=True)
            self.output = nn.Linear(256, vocabulary)

        def forward(self, source, inputs):
            mask = nn.Transformer.generate_square_subsequent_mask(inputs.shape[1])
            return self.output(self.blocks(16 * self.words(source), 16 * self.words(inputs), tgt_mask=mask,
                                           tgt_is_causal=True))

    class Captioner(nn.Module):
        """Four stages, 7 x 7 cells, an LSTM that attends to them before each update (Xu et al. 2015). The captions of an image
        are queries to the same cells."""

        def __init__(self, vocabulary, hidden=512):
            super().__init__()
            widths = (3, 32, 64, 128, 256)
            self.stages = nn.Sequential(*(layer for a, b in zip(widths, widths[1:])
                                          for layer in (nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))))
            self.words, cells = nn.Embedding(vocabulary, WORD), widths[-1]
            self.first_h, self.first_c = nn.Linear(cells, hidden), nn.Linear(cells, hidden)
            self.key, self.query = nn.Linear(cells, hidden), nn.Linear(hidden, hidden, bias=False)
            self.vector, self.gate = nn.Linear(hidden, 1, bias=False), nn.Linear(hidden, 1)
            self.cell = nn.LSTMCell(WORD + cells, hidden)
            self.of_state, self.of_context = nn.Linear(hidden, WORD), nn.Linear(cells, WORD, bias=False)
            self.output = nn.Linear(WORD, vocabulary)

        def forward(self, images, inputs):
            grid = self.stages(images).flatten(2).transpose(1, 2)
            count, each = len(images), len(inputs) // len(images)
            mean, keys = grid.mean(1).repeat_interleave(each, 0), self.key(grid).unsqueeze(1)
            h, c = torch.tanh(self.first_h(mean)), torch.tanh(self.first_c(mean))
            words, states, contexts = self.words(inputs), [], []
            for word in words.unbind(1):
                query = self.query(h).view(count, each, 1, -1)
                energies = self.vector(torch.tanh(keys + query)).squeeze(3)
                context = torch.bmm(torch.softmax(energies, 2), grid).view(count * each, -1)
                context = context * torch.sigmoid(self.gate(h))
                h, c = self.cell(torch.cat((word, context), 1), (h, c))
                states.append(h)
                contexts.append(context)
            deep = words + self.of_state(torch.stack(states, 1)) + self.of_context(torch.stack(contexts, 1))
            return self.output(torch.tanh(deep))

    def trained(name, compiled):
        """-> one training step: forward, backward, gradients clipped to norm 1, Adam."""
        source = None
        if name == CAPTIONED:
            batch, vocabulary, length, smoothing = 160, 5000, 12, 0.0
            model, source = Captioner(vocabulary), torch.rand(32, 3, 112, 112)
        elif TRAINED[name] is None:
            batch, vocabulary, length, smoothing = 128, 8000, 32, 0.1
            model = Transformer(vocabulary)
        else:
            cell, score, batch, vocabulary = TRAINED[name]
            length, smoothing = 20, 0.0
            model = Recurrent(cell, score, vocabulary)
        forward = torch.compile(model) if compiled else model
        adam = torch.optim.Adam(model.parameters(), 1e-3, fused=True)
        target = torch.randint(4, vocabulary, (batch, length))
        source = torch.randint(4, vocabulary, (batch, length)) if source is None else source
        inputs = torch.cat((torch.full((batch, 1), BEGIN), target[:, :-1]), 1)

        def step():
            adam.zero_grad()
            logits = forward(source, inputs)
            loss = F.cross_entropy(logits.view(-1, vocabulary), target.view(-1), label_smoothing=smoothing)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
        return step

    def decoded(beam, batch):
        model, source = Recurrent("gru", "additive", 8000).eval(), torch.randint(4, 8000, (batch, WORDS_IN))

        def run():
            with torch.no_grad():
                answer = model.greedy(source) if beam == 1 else model.beam(source, beam)
            assert answer.shape == (batch, WORDS_OUT)
        return run

    return trained, decoded


def rows_of(compiled):
    if compiled:
        return ["step/" + name for name in TRAINED]
    return ["step/" + name for name in (*TRAINED, CAPTIONED)] + ["memory/" + name for name in TRAINED] + list(DECODED)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--compiled", action="store_true", help="training steps by torch.compile")
    parser.add_argument("--alone", metavar="NAME", help=argparse.SUPPRESS)  # memory/…: three steps, here
    arguments = options_of(parser)
    requested = requested_rows(parser, arguments, rows_of(arguments.compiled))
    torch = torch_with(arguments.threads)
    warnings.filterwarnings("ignore")
    trained, decoded = networks(torch)

    def tell(**facts):
        print(json.dumps({key: float(f"{x:.6g}") if isinstance(x, float) else x for key, x in facts.items()}), flush=True)

    if arguments.alone:
        step = trained(arguments.alone.removeprefix("memory/"), False)
        for _ in range(3):
            step()
        tell(name=arguments.alone, peak_mb=peak_mebibytes())
        return 0

    tell(torch=torch.__version__, threads=torch.get_num_threads())
    failed = False
    for name in requested:
        kind, _, network = name.partition("/")
        try:
            if kind == "memory":
                subprocess.run([sys.executable, __file__, "--threads", str(arguments.threads), "--alone", name], check=True)
                continue
            run = trained(network, arguments.compiled) if kind == "step" else decoded(*DECODED[name])
            tell(name=name, ms=best(run, arguments.seconds, least=6) * 1e3, peak_mb=peak_mebibytes())
            del run
        except (MemoryError, RuntimeError, subprocess.CalledProcessError) as error:
            failed = True
            print(f"{name}: {(str(error).splitlines() or ['out of memory'])[0]}", file=sys.stderr, flush=True)
        gc.collect()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
