// Encoders that others have trained: published networks (image_networks.h) up to one of their stages, as a grid.
#pragma once

#include <filesystem>
#include <vector>

#include "attend/models/image_encoder.h"
#include "attend/tensor/safetensors.h"

namespace attend::models {

/// The tensors of such an encoder by its own names, from a file by the published ones: batch norm, with the statistics of the
/// file, is folded into the convolutions,
///   y = gain·(W ∗ x − mean)/√(variance + ε) + shift = (s·W) ∗ x + (shift − s·mean), s = gain/√(variance + ε).
/// Rejects, naming tensors, a file of another network, one that lacks a tensor or has others, and numbers that are not finite.
std::vector<NamedTensor> read_pretrained(const ImageEncoderOptions& options, const std::filesystem::path& path);
/// The same without their numbers: rejects wrong names and shapes, reading only the front of the file.
void check_pretrained(const ImageEncoderOptions& options, const std::filesystem::path& path);

/// Puts them in the place of the model's parameters "encoder.…". Returns how many there were.
int64_t take_pretrained(Model& model, const ImageEncoderOptions& options, const std::filesystem::path& path);

/// Whether images can be encoded once and for all: a published network of which no stage is trained.
bool gives_fixed_grids(const ImageEncoderOptions& options);
/// The channels [B,D,h,w] that such an encoder makes of images [B,3,H,W]; where it reads images, it reads these instead.
Tensor fixed_grids(const Encoder& encoder, const Tensor& images);

}  // namespace attend::models
