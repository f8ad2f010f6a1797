// Encoders of sound: frames [B,T,F] become states, of which one may stand for several frames.
#pragma once

#include <memory>

#include "attend/models/encoder.h"

namespace attend::models {

/// Rows of the table of encoders (encoder.h). Recurrent layers as they are, or with a pyramid of layers on top, each of which
/// reads two states of the one below as one (Chan et al. 2016, eq. 4): with n of them a place stands for 2ⁿ frames.
std::unique_ptr<Encoder> make_recurrent_listener(const SequenceEncoderOptions& options, Random& random);
std::unique_ptr<Encoder> make_listener(const SequenceEncoderOptions& options, Random& random);
/// Blocks of self-attention over W·x + b with positions, or over what the front end makes of x (Dong et al. 2018).
std::unique_ptr<Encoder> make_sound_transformer(const SequenceEncoderOptions& options, Random& random);

/// The frames of a batch, [B,T,F]; rejects words, images, another width, an empty batch, and a sound without frames.
const Tensor& require_frames(const char* where, const data::Source& source, int64_t features);

/// States [T,B,D] two by two: [⌈T/2⌉,B,2D], of which the last may have zeros in its second half.
Var in_pairs(const Var& by_time);

}  // namespace attend::models
