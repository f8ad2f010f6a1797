// Colours of heat maps. Both ramps are even in lightness (OKLab) and readable with every kind of colour blindness; the
// pages' style sheet (page/theme.css) has the same ones.
#pragma once

#include <string>

namespace attend::explain {

struct Colour {
  int red = 0, green = 0, blue = 0;
  bool operator==(const Colour&) const = default;
};

/// 0 is nearly white, 1 dark blue; values outside [0, 1] are clamped, NaN counts as 0.
Colour sequential(double share);
/// −1 is orange (against), 0 nearly white, 1 blue (for).
Colour diverging(double share);
/// Of a spectrogram: 0, quiet, is paper, 1 is ink. Without a hue, as in print and in phonetics; hues say what was heard.
Colour loudness_colour(double share);
/// Light grounds of labels, each told from those before it.
Colour label_colour(int turn);

/// "#103f85".
std::string hex(const Colour& colour);
/// How bright it looks, 0 to 1 (the relative luminance of WCAG 2).
double luminance(const Colour& colour);
/// Black or white, whichever is easier to read on it.
Colour ink_on(const Colour& colour);

}  // namespace attend::explain
