// The bytes of a sound as its decoder asks for them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "attend/data/byte_stream.h"
#include "attend/data/seekable_bytes.h"

namespace attend::data {

/// The first bytes of a file, up to 12.
std::string first_bytes(SeekableBytes& bytes);

/// WAV is read as it comes. All others are collected first, as their decoders look at the end: `most` bytes of them.
std::unique_ptr<SeekableBytes> sound_stream_bytes(std::unique_ptr<ByteStream> stream, const std::string& name,
                                                  size_t most);

}  // namespace attend::data
