// Files that are replaced as a whole: written under a temporary name, synced, renamed. A kill at any moment leaves the old
// file or the new one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace attend {

/// The system's reason for an error number: "No space left on device".
std::string system_reason(int error);

/// A file descriptor, closed at the end of its lifetime.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  /// False if the system reports that earlier writes were lost (errno says why).
  bool close();

 private:
  int number_;
};

/// A file `path`.tmp-process-number beside `path`. commit() renames it to `path`; without a commit it is removed.
/// Several may replace the same file at once: the last commit wins. What a killed process left behind is removed the
/// next time that file is written.
class Replacement {
 public:
  /// `where` begins every message, before the path.
  explicit Replacement(std::filesystem::path path, std::string_view where = "");
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  int create();
  void require_done(bool done, const char* what) const;

  std::filesystem::path path_, temporary_;
  std::string where_;
  Descriptor file_;
  bool done_ = false;
};

/// Replaces `path` with a file that holds these bytes.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// A new file without a name, on the disk of that folder: it is gone when it is closed, or its process ends. Returns its
/// number, open to read and write.
int unnamed_file(const std::filesystem::path& folder);

/// Returns once the names of its files are on disk; throws Error if they cannot be written.
void sync_folder(const std::filesystem::path& folder);

/// Makes the folder if it is missing; throws Error if it cannot be written to.
void require_writable(const std::filesystem::path& folder);

/// All bytes of a regular file; throws Error if there are more than `most`.
std::string read_file(const std::filesystem::path& path, size_t most);

}  // namespace attend
