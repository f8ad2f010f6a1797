// The commands for models that look at images.
#pragma once

#include <string>

#include "attend/tasks/image.h"

namespace attend::cli {

/// Images of which it is known what they show.
struct KnownImages {
  std::string images, labels, captions, names, on_broken;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("images", images, "IDX file or folder; none: the test images of the built-in corpus");
    visit("labels", labels, "IDX file of their labels");
    visit("captions", captions, "file of captions; images is their folder");
    visit("names", names, "file with the names of the images to look at; none: all");
    visit("on_broken", on_broken,
          "an image that cannot be read or has no captions: refuse, or skip; none: as in training");
  }
};
tasks::ImageExamples read_known(const tasks::ImageModel& model, const KnownImages& known);

/// Whether the folder holds such a model; false where it holds none at all.
bool looks_at_images(const std::string& folder);
/// The folder that these arguments name first: "attend run DIR …".
std::string named_folder(int argc, char** argv);

int run_images(int argc, char** argv);
int eval_images(int argc, char** argv);
int explain_images(int argc, char** argv);

}  // namespace attend::cli
