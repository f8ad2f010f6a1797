#include "attend/explain/png.h"

#include <cairo/cairo.h>
#include <dlfcn.h>
#include <librsvg/rsvg.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "attend/base/error.h"
#include "attend/base/replacement.h"

#ifdef __SANITIZE_ADDRESS__
/// fontconfig keeps what it has read until the end, and freeing it would not be safe while other threads run.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }
#endif

namespace attend::explain {
namespace {

constexpr double kPngSharp = 2;         // pixels per unit of the SVG
constexpr double kLongestSide = 32000;  // of an image, in pixels; cairo's limit is 32767

/// librsvg, loaded at run time: its functions and those of cairo and GLib, which it brings along. It stays loaded:
/// GLib's types cannot be unloaded.
class Rsvg {
 public:
  static const Rsvg& loaded() {
    const Rsvg& library = one();
    require(library.handle_ != nullptr,
            "png: expected librsvg (Debian: apt install librsvg2-2 fonts-dejavu-core), got ", library.reason_);
    return library;
  }

  static bool there() { return one().handle_ != nullptr; }

  decltype(&rsvg_handle_new_from_data) read = nullptr;
  decltype(&rsvg_handle_get_intrinsic_size_in_pixels) size = nullptr;
  decltype(&rsvg_handle_render_document) render = nullptr;
  decltype(&cairo_image_surface_create) surface = nullptr;
  decltype(&cairo_surface_status) surface_status = nullptr;
  decltype(&cairo_surface_destroy) destroy_surface = nullptr;
  decltype(&cairo_surface_write_to_png_stream) write = nullptr;
  decltype(&cairo_surface_flush) flush = nullptr;
  decltype(&cairo_image_surface_get_data) pixels = nullptr;
  decltype(&cairo_image_surface_get_stride) stride = nullptr;
  decltype(&cairo_image_surface_get_width) width = nullptr;
  decltype(&cairo_image_surface_get_height) height = nullptr;
  decltype(&cairo_create) context = nullptr;
  decltype(&cairo_destroy) destroy_context = nullptr;
  decltype(&cairo_scale) scale = nullptr;
  decltype(&cairo_status_to_string) reason = nullptr;
  decltype(&g_object_unref) unref = nullptr;
  decltype(&g_error_free) free_error = nullptr;

 private:
  static constexpr const char* kName = "librsvg-2.so.2";

  static const Rsvg& one() {
    static const Rsvg library;
    return library;
  }

  Rsvg() : handle_(dlopen(kName, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) {
      const char* why = dlerror();
      reason_ = why ? why : "none";
      return;
    }
    find(read, "rsvg_handle_new_from_data");
    find(size, "rsvg_handle_get_intrinsic_size_in_pixels");
    find(render, "rsvg_handle_render_document");
    find(surface, "cairo_image_surface_create");
    find(surface_status, "cairo_surface_status");
    find(destroy_surface, "cairo_surface_destroy");
    find(write, "cairo_surface_write_to_png_stream");
    find(flush, "cairo_surface_flush");
    find(pixels, "cairo_image_surface_get_data");
    find(stride, "cairo_image_surface_get_stride");
    find(width, "cairo_image_surface_get_width");
    find(height, "cairo_image_surface_get_height");
    find(context, "cairo_create");
    find(destroy_context, "cairo_destroy");
    find(scale, "cairo_scale");
    find(reason, "cairo_status_to_string");
    find(unref, "g_object_unref");
    find(free_error, "g_error_free");
  }

  template <class Function>
  void find(Function& function, const char* name) {
    if (!handle_) return;
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function) return;
    reason_ = "one without " + std::string(name) + " (2.52 or later has it)";
    handle_ = nullptr;
  }

  void* handle_;
  std::string reason_;
};

template <class T, class Free>
std::unique_ptr<T, Free> owned(T* pointer, Free free) {
  return {pointer, free};
}

/// Throws Error with what librsvg says.
[[noreturn]] void refuse(const Rsvg& rsvg, GError* error) {
  const std::string why = error ? error->message : "no reason given";
  if (error) rsvg.free_error(error);
  fail("png: expected an SVG that librsvg can draw, got: ", why);
}

cairo_status_t append(void* closure, const unsigned char* bytes, unsigned int count) {
  try {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {  // must not pass through C
    return CAIRO_STATUS_NO_MEMORY;
  }
}

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;

/// The picture at `sharp` pixels per unit, or as many as the longest side allows.
Surface surface_of(const Rsvg& rsvg, const std::string& svg, double sharp) {
  GError* error = nullptr;
  const auto picture = owned(rsvg.read(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error), rsvg.unref);
  if (!picture) refuse(rsvg, error);
  double width = 0, height = 0;
  require(rsvg.size(picture.get(), &width, &height) && width >= 1 && height >= 1,
          "png: expected an SVG that says how large it is in pixels, got one that does not");
  sharp = std::min(sharp, kLongestSide / std::max(width, height));
  const double pixels_wide = std::ceil(width * sharp), pixels_high = std::ceil(height * sharp);
  Surface surface(rsvg.surface(CAIRO_FORMAT_ARGB32, static_cast<int>(pixels_wide), static_cast<int>(pixels_high)),
                  rsvg.destroy_surface);
  const cairo_status_t status = rsvg.surface_status(surface.get());
  require(status == CAIRO_STATUS_SUCCESS, "png: ", pixels_wide, " × ", pixels_high, " pixels: ", rsvg.reason(status));
  const auto context = owned(rsvg.context(surface.get()), rsvg.destroy_context);
  rsvg.scale(context.get(), sharp, sharp);
  const RsvgRectangle whole{0, 0, width, height};
  if (!rsvg.render(picture.get(), context.get(), &whole, &error)) refuse(rsvg, error);
  return surface;
}

std::string png_of(const std::string& svg) {
  const Rsvg& rsvg = Rsvg::loaded();
  const Surface surface = surface_of(rsvg, svg, kPngSharp);
  std::string png;
  const cairo_status_t status = rsvg.write(surface.get(), append, &png);
  require(status == CAIRO_STATUS_SUCCESS, "png: ", rsvg.reason(status));
  return png;
}

}  // namespace

void write_png(const std::filesystem::path& path, const std::string& svg) {
  const std::string png = png_of(svg);
  Replacement file(path, "png");
  file.write(std::as_bytes(std::span(png)));
  file.commit();
}

data::Image drawn_svg(const std::string& svg, double sharp) {
  const Rsvg& rsvg = Rsvg::loaded();
  const Surface surface = surface_of(rsvg, svg, sharp);
  rsvg.flush(surface.get());
  const auto stride = static_cast<size_t>(rsvg.stride(surface.get()));
  const unsigned char* rows = rsvg.pixels(surface.get());
  data::Image image(rsvg.height(surface.get()), rsvg.width(surface.get()), 3);
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      uint32_t pixel = 0;  // alpha, red, green, blue from the highest byte on; colours are multiplied by alpha
      std::memcpy(&pixel, rows + static_cast<size_t>(y) * stride + 4 * static_cast<size_t>(x), sizeof pixel);
      const uint32_t white = 255 - (pixel >> 24);
      for (int64_t c = 0; c < 3; ++c) image.at(y, x, c) = static_cast<uint8_t>((pixel >> (16 - 8 * c) & 255) + white);
    }
  }
  return image;
}

bool can_write_png() { return Rsvg::there(); }

}  // namespace attend::explain
