#!/usr/bin/env bash
# Makes a tiny model folder of every kind, with what it answers: make.sh ATTEND. Those that are kept were made by version 0.1.0,
# before tasks shared one house; SavedModels (tests/tasks) holds later versions to loading them and answering the same.
set -euo pipefail
attend=$(realpath "$1")
cd "$(dirname "$0")"
export OMP_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for a in red blue small old; do for n in dog cat bird man; do for v in runs sleeps sings; do
  echo "the $a $n $v" >>"$work/a"
  echo "$v $n $a" >>"$work/b"
done; done; done
head -n 6 "$work/a" >"$work/ask"

text() {  # name, options …
  local name=$1
  shift
  "$attend" train translate --source "$work/a" --target "$work/b" --train.steps 40 --train.rate 1e-2 --out "$work/$name" \
    --force "$@" 2>"$work/log" || { cat "$work/log"; exit 1; }
  keep "$name"
  "$attend" run "$name" --scores <"$work/ask" >"$name/answers.txt"
  cp "$work/ask" "$name/questions.txt"
}
keep() {
  rm -rf "$1"
  mkdir "$1"
  for file in config.yml weights.safetensors source.words source.characters source.spm target.words target.characters \
    target.spm labels.txt; do
    if [ -f "$work/$1/$file" ]; then cp "$work/$1/$file" "$1/"; fi
  done
  sed -i "s|$work/||" "$1/config.yml"
}
small=(--model.embedding 6 --model.hidden 8)
text recurrent --tokeniser.kind words --model.name recurrent "${small[@]}" --model.decoder.query after \
  --model.decoder.feeding true
text characters --tokeniser.kind characters --model.name recurrent "${small[@]}" --model.cell lstm --model.layers 2
text reread --tokeniser.kind words --model.name recurrent "${small[@]}" --model.decoder.input reread
text transformer --tokeniser.kind words --tokeniser.joint true --model.name transformer --model.size 8 --model.heads 2 \
  --model.hidden 16 --model.encoder_layers 1 --model.decoder_layers 2 --model.tied all
text subwords --tokeniser.kind bpe --tokeniser.vocabulary 40 --model.name transformer --model.size 8 --model.heads 2 \
  --model.hidden 16 --model.encoder_layers 1 --model.decoder_layers 1
text language_model --tokeniser.kind words --tokeniser.joint true --model.name language_model --model.size 8 --model.heads 2 --model.hidden 16 \
  --model.decoder_layers 1

image() {  # name, task, options …
  local name=$1 task=$2
  shift 2
  "$attend" train "$task" --train.steps 4 --scored_images 4 --out "$work/$name" --force "$@" 2>"$work/log" || { cat "$work/log"; exit 1; }
  keep "$name"
  "$attend" explain "$name" --example 0 --out "$name/look.json" >"$name/answers.txt" 2>/dev/null ||
    "$attend" eval "$name" >"$name/answers.txt" 2>/dev/null
}
image glimpse glimpse --model.hidden 8 --model.patch 4 --model.what 6 --model.where 6 --model.glimpse 8 --batch.images 8
image captioner caption --model.encoder.stages 4,4,4 --model.embedding 6 --model.hidden 8 --batch.images 4 --size 48
image captioner_mean caption --model.name captioner --model.read mean --model.encoder.stages 4,4,4 --model.embedding 6 \
  --model.hidden 8 --batch.images 4 --size 48
image image_classifier glimpse --model.name image_classifier --model.encoder.stages 4,4 --batch.images 8
image autoencoder autoencode --model.encoder.stages 8 --model.decoder 8 --model.code 2 --batch.images 8
