// What an answer about an image depended on: the gradient of its score in the pixels, and Grad-CAM over the cells of the grid.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "attend/autograd/var.h"

namespace attend::models {
class ImageClassifier;
}

namespace attend::explain {

struct Seen {
  Tensor logits;          ///< [B,V]
  Tensor input_gradient;  ///< [B,C,H,W]: ∂ logit of the class / ∂ pixel (Simonyan et al. 2014)
  Tensor cam;             ///< [B,h,w], none below 0; undefined where the network has no grid
};

/// The logits [B,V] of what is asked about, computed anew at each call from images that it knows.
using ImageLogits = std::function<Var()>;

/// For `classes[b]` of each image. Grad-CAM (Selvaraju et al. 2017, eq. 1 and 2): with A [D,h,w] the channels of the last grid
/// and s the class's logit, w_d = mean over cells of ∂s/∂A_d, cam = max(0, Σ_d w_d·A_d).
Seen image_saliency(const ImageLogits& logits, std::span<const int32_t> classes);
/// Of a classifier's images [B,C,H,W]; without classes, of those that it finds likeliest.
Seen image_saliency(const models::ImageClassifier& model, const Tensor& images, std::span<const int32_t> classes = {});

/// ‖∂ln p/∂pixel‖ over the class and the three likeliest others, and over channels: [B,H,W], a row of the sequential Jacobian
/// (Graves 2012, section 3.5).
Tensor image_jacobian(const ImageLogits& logits, std::span<const int32_t> classes);

/// Σ over channels of |gradient|: [B,C,H,W] → [B,H,W].
Tensor pixel_saliency(const Tensor& input_gradient);

}  // namespace attend::explain
