// docs/concepts.md names every row of every menu.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "attend/attention/attention.h"
#include "attend/attention/reinforce.h"
#include "attend/models/encoder_decoder_options.h"
#include "attend/models/glimpse.h"
#include "attend/models/zoo.h"

namespace attend {
namespace {

TEST(Documents, ConceptsNameEveryRow) {
  std::ifstream file(std::string(ATTEND_SOURCE_DIR) + "/docs/concepts.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  ASSERT_FALSE(page.empty());
  const auto named = [&](const auto& table) {
    for (const auto& row : table) {
      if (row.name.starts_with("test_")) continue;  // added by another test of this program
      EXPECT_NE(page.find("`" + std::string(row.name) + "`"), std::string::npos) << row.name << " is not explained";
    }
  };
  named(scores());
  named(windows());
  named(aligns());
  named(projections());
  named(baselines());
  named(models::zoo());
  named(models::encoders());
  named(models::decoders());
  named(models::letter_readers());
  named(models::decoder_inputs());
  named(models::starts());
  named(models::readouts());
  named(models::policies());
  named(models::first_looks());
  named(models::cores());
  named(models::rewards());
}

}  // namespace
}  // namespace attend
