// Captions of images, as people keep them: text files that name an image and say what it shows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attend/data/broken.h"
#include "attend/data/lines.h"

namespace attend::data {

struct CaptionedImage {
  std::string name;                   ///< as the file of captions has it, relative to the folder of images
  std::vector<std::string> captions;  ///< at least one
};

/// Lines "name#k<tab>caption" (Flickr8k; "#k" may be missing), or JSON lines {"image": "…", "captions": ["…"]} or
/// {"image": "…", "caption": "…"}: the first line tells which. An image may come in several lines; images in the order in
/// which they come first.
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

/// Those of the list (or of the whole file) that have an image and captions, in the order of the list (or file). What has
/// only one of both is counted in `broken`, and refused there if so asked.
std::vector<CaptionExample> captioned_images(const CaptionFiles& files, Broken& broken);

}  // namespace attend::data
