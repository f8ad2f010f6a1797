#!/usr/bin/env bash
# Installs the Debian packages that the build needs and that are missing; does nothing if none is.
# Further package names may be given as arguments (`scripts/setup.sh clang`).
set -euo pipefail

packages=(
  build-essential cmake ninja-build pkg-config    # compiler and build
  libdnnl-dev libhwy-dev                          # oneDNN, Highway
  libsentencepiece-dev libyaml-cpp-dev zlib1g-dev # subwords, recipes, .gz
  libpng-dev libjpeg62-turbo-dev                  # images
  libsndfile1-dev libsoxr-dev libkissfft-dev      # sounds: files, rates, spectra
  nlohmann-json3-dev libssl-dev                   # JSON, TLS
  libgtest-dev libcpp-httplib-dev                 # tests
  librsvg2-dev fonts-dejavu-core                  # pictures as PNG, and the letters in them
  "$@"
)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "set-up: no apt-get here; the build needs a C++20 compiler with OpenMP, CMake 3.25 or later, Ninja, pkg-config," \
    "oneDNN 2.x, Highway 1.0 or later, SentencePiece, yaml-cpp, zlib, libpng, libjpeg, libsndfile, soxr, KissFFT," \
    "librsvg, nlohmann-json, OpenSSL 3.0, cpp-httplib 0.11 and GoogleTest"
  exit 0
fi

installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

# It waits for another installation that is under way, as machines that have just started have one.
install="apt-get install --yes -o DPkg::Lock::Timeout=300 --no-install-recommends ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
  as_root=(sudo)
else
  echo "set-up: ${missing[*]} must be installed, by root: apt-get update && $install" >&2
  exit 1
fi

echo "set-up: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
# shellcheck disable=SC2086  # splitting into words is intended
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $install
