// Captions of images, in the usual formats: text files that name an image and say what it shows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attend/data/broken.h"
#include "attend/data/lines.h"

namespace attend::data {

struct CaptionedImage {
  std::string name;                   ///< as in the file of captions, relative to the folder of images
  std::vector<std::string> captions;  ///< at least one
};

/// Lines "name#k<tab>caption" (Flickr8k; "#k" may be missing), or JSON lines {"image": "…", "captions": ["…"]} or
/// {"image": "…", "caption": "…"}: the first line decides which. An image may have several lines; images are in the
/// order of their first line.
std::vector<CaptionedImage> read_captions(LineReader reader);
std::vector<CaptionedImage> read_captions(const std::filesystem::path& path);

struct CaptionFiles {
  std::filesystem::path captions;  ///< as above
  std::filesystem::path images;  ///< the folder of image files, or of feature grids: `name`, `name`.npy or its stem.npy
  std::filesystem::path names;   ///< a list of the images to take, one name a line; empty: all that are there
};

/// The captioned image, and the file that shows it.
struct CaptionExample {
  std::filesystem::path file;
  CaptionedImage image;
};

/// The entries of the list (or of the whole file) that have both an image and captions, in the order of the list (or
/// file). Entries that have only one of the two are counted in `broken`, which refuses them if set to.
std::vector<CaptionExample> captioned_images(const CaptionFiles& files, Broken& broken);

}  // namespace attend::data
