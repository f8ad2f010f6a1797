#include "attend/explain/png.h"

#include <cairo/cairo.h>
#include <dlfcn.h>
#include <librsvg/rsvg.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>

#include "attend/base/error.h"
#include "attend/base/replacement.h"

namespace attend::explain {
namespace {

constexpr double kSharp = 2;            // pixels per unit of the SVG
constexpr double kLongestSide = 32000;  // of an image, in pixels; cairo has no more than 32767

/// librsvg, loaded: its functions and those of cairo and GLib, which it brings along. It stays: GLib's types cannot be
/// unloaded.
class Rsvg {
 public:
  static const Rsvg& loaded() {
    const Rsvg& library = one();
    require(library.handle_ != nullptr,
            "png: librsvg is wanted (Debian: apt install librsvg2-2 fonts-dejavu-core), got ", library.reason_);
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
  fail("png: an SVG that librsvg can draw is wanted, got: ", why);
}

cairo_status_t append(void* closure, const unsigned char* bytes, unsigned int count) {
  try {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {  // must not pass through C
    return CAIRO_STATUS_NO_MEMORY;
  }
}

std::string png_of(const std::string& svg) {
  const Rsvg& rsvg = Rsvg::loaded();
  GError* error = nullptr;
  const auto picture = owned(rsvg.read(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error), rsvg.unref);
  if (!picture) refuse(rsvg, error);
  double width = 0, height = 0;
  require(rsvg.size(picture.get(), &width, &height) && width >= 1 && height >= 1,
          "png: an SVG that says how large it is in pixels is wanted, got one that does not");
  const double sharp = std::min(kSharp, kLongestSide / std::max(width, height));
  const double pixels_wide = std::ceil(width * sharp), pixels_high = std::ceil(height * sharp);
  const auto surface =
      owned(rsvg.surface(CAIRO_FORMAT_ARGB32, static_cast<int>(pixels_wide), static_cast<int>(pixels_high)),
            rsvg.destroy_surface);
  const auto require_done = [&](cairo_status_t status) {
    require(status == CAIRO_STATUS_SUCCESS, "png: ", pixels_wide, " × ", pixels_high, " pixels: ", rsvg.reason(status));
  };
  require_done(rsvg.surface_status(surface.get()));
  const auto context = owned(rsvg.context(surface.get()), rsvg.destroy_context);
  rsvg.scale(context.get(), sharp, sharp);
  const RsvgRectangle whole{0, 0, width, height};
  if (!rsvg.render(picture.get(), context.get(), &whole, &error)) refuse(rsvg, error);
  std::string png;
  require_done(rsvg.write(surface.get(), append, &png));
  return png;
}

}  // namespace

void write_png(const std::filesystem::path& path, const std::string& svg) {
  const std::string png = png_of(svg);
  Replacement file(path, "png");
  file.write(std::as_bytes(std::span(png)));
  file.commit();
}

bool can_write_png() { return Rsvg::there(); }

}  // namespace attend::explain
