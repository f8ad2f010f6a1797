// The glimpse network (recurrent visual attention): it looks at an image a few patches at a time, chooses where to look
// next, and finally classifies it (Mnih et al. 2014).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/attention/reinforce.h"
#include "attend/models/glimpse_eye.h"
#include "attend/models/glimpse_reward.h"
#include "attend/models/model.h"
#include "attend/nn/recurrent.h"

namespace attend::models {

struct CoreRow {
  std::string_view name, formula;
};
std::span<const CoreRow> cores();

struct GlimpseOptions {
  int64_t labels = 0;
  int64_t glimpses = 6;
  EyeOptions eye;
  std::string core = "relu";
  int64_t hidden = 256;
  int64_t copies = 1, copies_in_use = 1;
  bool cut = true;
  std::string reward = "correct";
  double cost = 0.02;
  double policy_weight = 1;
  ReinforceOptions reinforce{.baseline = "learned"};

  template <class Visit>
  void fields(Visit&& visit) {
    visit("labels", labels, "number of labels", bounds::count_or_none());
    visit("glimpses", glimpses, "how often it looks, at most", bounds::layers());
    eye.fields(visit);
    visit("core", core, "what joins the glimpses: relu, tanh or lstm", bounds::one_of(cores()));
    visit("hidden", hidden, "width of the core's state", bounds::width());
    visit("copies", copies, "training: episodes per image, each with its own draws", bounds::layers());
    visit("copies_in_use", copies_in_use,
          "outside training: 1 looks at the mean location; more average the answers of that many draws",
          bounds::layers());
    visit("cut", cut, "the policy learns from the core's state, but the core does not learn from the policy");
    visit("reward", reward,
          "what an episode is worth: correct, likelihood, near; correct_minus_cost or correct_while_early, which learn "
          "to stop",
          bounds::one_of(rewards()));
    visit("cost", cost, "of a glimpse, for a reward that counts it");
    visit("policy_weight", policy_weight, "of REINFORCE relative to the cross-entropy; 0 turns it off",
          bounds::at_least(0));
    visit("reinforce", reinforce, "");
  }
};

/// h' = f(W g + U h + b), or an lstm cell.
class GlimpseCore {
 public:
  GlimpseCore(std::string_view kind, int64_t in, int64_t hidden, Random& random);
  RecurrentState operator()(const Var& x, const RecurrentState& before) const;
  void params(const nn::VisitParams& visit);

 private:
  std::unique_ptr<nn::LinearPair> plain_;
  std::unique_ptr<nn::RecurrentCell> lstm_;
};

/// How one image was looked at, T glances; those from `steps` on came after the decision to stop and did not count.
struct GlimpsePath {
  Tensor locations;             ///< [T,2]: x to the right, y downwards, edges at −1 and 1
  Tensor probabilities;         ///< [T,labels] after each glance
  Tensor stop;                  ///< [T] probability of stopping after each; undefined if it does not learn to stop
  int64_t steps = 0;            ///< glances that counted
  std::vector<int64_t> pixels;  ///< width of each scale's square
  TileGrid tiles;               ///< of policy tiles; else none
  Tensor tile_shares;           ///< [T,K] P(tile | state) at each glance; undefined without tiles
  Tensor tile_weights;          ///< [T,K] what they were read by: the shares, or 1 for the one that was chosen
};

/// The two parts of its loss. `policy` is undefined if nothing is learned by REINFORCE.
struct GlimpseLoss {
  Var classification, policy;
  Tensor rewards;  ///< [N], one per episode
};

/// Its answer has one token, the label.
class GlimpseNetwork : public Model {
 public:
  GlimpseNetwork(const GlimpseOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  /// Cross-entropy at the end, and in training REINFORCE for where it looked and when it stopped.
  Var loss(const data::Batch& batch, Training* training) const override;
  GlimpseLoss losses(const data::Batch& batch, Training& training) const;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  int64_t vocabulary() const override { return options_.labels; }
  int64_t answer_length(int64_t) const override { return 1; }

  /// [B,labels] of the answer outside training, of one episode; the image gets a gradient, places are constants.
  Var logits(const data::Source& source) const;
  /// Looks at images [B,C,H,W] as outside training (with its first copy), or along the given `path` [T,2].
  std::vector<GlimpsePath> look(const Tensor& images, const Tensor& path = {}) const;
  const GlimpseOptions& options() const { return options_; }
  /// Trained with one number, used with another.
  void set_copies_in_use(int64_t copies);

 private:
  struct Episode;
  Episode episode(const Var& images, int64_t copies, Dice& dice, const Tensor& path = {}) const;
  void decide(Episode& episode, Dice& dice, bool last) const;
  Var log_probabilities(const data::Source& source) const;
  Var policy_loss(const Episode& episode, const Tensor& rewards) const;
  Tensor require_images(const data::Source& source) const;

  GlimpseOptions options_;
  bool stops_;
  std::unique_ptr<Eye> eye_;
  GlimpseCore core_;
  nn::Linear output_;
  std::unique_ptr<nn::Linear> stop_;  // logits of continuing and of stopping
  std::unique_ptr<Reinforce> reinforce_;
};

}  // namespace attend::models
