#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/tasks/image.h"
#include "attend/tasks/task.h"

namespace attend::tasks {
namespace {

struct ImageTaskRow {
  std::string_view name;
  ImageAnswers answers;
  std::string_view model;  // where none is named
};
constexpr ImageTaskRow kImageTasks[] = {
    {"glimpse", ImageAnswers::label, "glimpse"},
    {"caption", ImageAnswers::caption, "captioner"},
    {"autoencode", ImageAnswers::image, "autoencoder"},
};

const ImageTaskRow& image_task(std::string_view name) { return row_named("task", kImageTasks, name); }

}  // namespace

ImageConfig::ImageConfig(const SettingList& asked) {
  SettingList settings = with_task_defaults(asked);
  const ImageTaskRow& task = image_task(task_of(asked).name);
  options.task = task.name;
  model = ModelChoice::take(settings, std::string(task.model), models::Reads::images);
  refuse_unknown(settings, all());
  set_options(options, settings);
}

std::vector<OptionInfo> ImageConfig::all() const { return model.with(describe_options(options)); }

ImageAnswers ImageConfig::answers() const { return image_task(options.task).answers; }

}  // namespace attend::tasks
