#include "attend/dist/company.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unordered_map>

#include "attend/base/clock.h"
#include "attend/base/error.h"
#include "attend/dist/mpi_calls.h"

namespace attend::dist {
namespace {

namespace fs = std::filesystem;

int number_in_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::max(1, std::atoi(text)) : otherwise;
}

/// Beside the program, or where it is installed.
const MpiCalls& loaded_calls(int size) {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  std::string reason;
  for (const fs::path& folder : {program, program / ATTEND_MODULE_DIR}) {
    const fs::path path = folder / kMpiModule;
    if (!fs::exists(path)) continue;
    // Open MPI loads parts of itself, which look for it among what is loaded for all.
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    const auto calls = module ? reinterpret_cast<MpiCallsOfModule>(dlsym(module, "attend_mpi_calls")) : nullptr;
    if (calls) return *calls();
    const char* why = dlerror();
    reason = path.string() + ": " + (why ? why : "it is of another version");
  }
  fail("mpirun has started this as one of ", size, ": expected ", kMpiModule, " beside the program, got ",
       reason.empty()
           ? "none, as it was built without Open MPI (Debian: apt install libopenmpi-dev openmpi-bin, and build again)"
           : reason);
}

/// What identifies a machine, or a container on it, in which a process can be looked for by its number.
std::string this_machine() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code missing;
  return boot + " " + fs::read_symlink("/proc/self/ns/pid", missing).string();
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

class MpiCompany : public train::Company {
 public:
  explicit MpiCompany(const MpiCalls& calls) : calls_(calls) {
    check(calls_.begin(&rank_, &size_));
    for (const std::string& one : gathered(host_name() + "\n" + std::to_string(::getpid()) + "\n" + this_machine())) {
      const size_t first = one.find('\n'), second = one.find('\n', first + 1);
      const bool near = one.substr(second + 1) == this_machine();
      members_.push_back({one.substr(0, first), near ? std::atoi(one.c_str() + first + 1) : 0});
    }
  }
  MpiCompany(const MpiCompany&) = delete;
  MpiCompany& operator=(const MpiCompany&) = delete;
  /// After an error the others may never come to the end; without it, mpirun ends them.
  ~MpiCompany() override {
    if (std::uncaught_exceptions() == 0) calls_.end();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  double sent() const override { return sent_; }
  void be_patient(double seconds) override { patience_ = seconds; }

  Transfer send(std::span<const std::byte> bytes, int to, int tag) override {
    void* request = nullptr;
    check(calls_.send(bytes.data(), count_of(bytes.size()), to, tag, &request));
    sent_ += static_cast<double>(bytes.size());
    return under_way(request, to);
  }
  Transfer receive(std::span<std::byte> bytes, int from, int tag) override {
    void* request = nullptr;
    check(calls_.receive(bytes.data(), count_of(bytes.size()), from, tag, &request));
    return under_way(request, from);
  }
  /// Counted where it comes from, once for each of the others, whoever passes it on.
  Transfer broadcast(std::span<std::byte> bytes, int from) override {
    void* request = nullptr;
    check(calls_.broadcast(bytes.data(), count_of(bytes.size()), from, &request));
    if (from == rank_) sent_ += static_cast<double>(bytes.size()) * (size_ - 1);
    return under_way(request, from == rank_ ? kAnybody : from);
  }
  Transfer gather(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int> sizes) override {
    // Kept until the next one: it has to outlive the transfer, and they are waited for one by one.
    offsets_.assign(sizes.size(), 0), counts_.assign(sizes.begin(), sizes.end());
    for (size_t i = 1; i < sizes.size(); ++i) offsets_[i] = offsets_[i - 1] + sizes[i - 1];
    void* request = nullptr;
    check(calls_.gather(mine.data(), count_of(mine.size()), all.data(), counts_.data(), offsets_.data(), &request));
    sent_ += static_cast<double>(mine.size()) * (size_ - 1);
    return under_way(request, kAnybody);
  }

  void poke() override {
    if (!pending_.empty()) done(pending_.begin()->first);
  }
  void wait(std::span<const Transfer> transfers) override {
    const double begun = steady_seconds();
    double looked = begun;
    for (const Transfer one : transfers) {
      while (!done(one)) {
        const double now = steady_seconds();
        rest(now - begun);
        if (now - looked < kLookAfter) continue;
        looked = now;
        look_for_dead();
        if (patience_ > 0 && now - begun > patience_) give_up(pending_.at(one).other, patience_);
      }
    }
  }

 private:
  static constexpr int kAnybody = -1;
  static constexpr double kLookAfter = 0.05;  // seconds between looks at the others' processes

  struct Pending {
    void* request;
    int other;
  };
  struct Member {
    std::string host;
    int process;  // on this machine; 0: elsewhere
  };

  void check(int code) const {
    if (code == 0) return;
    char text[512] = "";
    calls_.describe(code, text, sizeof(text));
    throw train::LostRank(std::string("MPI: ") + text);
  }
  static int count_of(size_t bytes) {
    require(bytes <= INT_MAX, "MPI: expected a message of at most ", INT_MAX, " bytes, got ", bytes);
    return static_cast<int>(bytes);
  }
  Transfer under_way(void* request, int other) {
    pending_.emplace(++last_, Pending{request, other});
    return last_;
  }
  bool done(Transfer one) {
    const auto found = pending_.find(one);
    if (found == pending_.end()) return true;
    int is_done = 0;
    check(calls_.test(found->second.request, &is_done));
    if (is_done) pending_.erase(found);
    return is_done != 0;
  }
  /// The core may be needed by the very rank that is waited for.
  static void rest(double waited) {
    constexpr double kSoon = 2e-3;
    if (waited < kSoon) {
      ::sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  std::string named(int rank) const {
    return "rank " + std::to_string(rank) + " (process on " + members_.at(static_cast<size_t>(rank)).host + ")";
  }
  void look_for_dead() const {
    for (size_t r = 0; r < members_.size(); ++r) {
      if (members_[r].process == 0 || (::kill(members_[r].process, 0) == 0 || errno != ESRCH)) continue;
      throw train::LostRank(named(static_cast<int>(r)) + " has ended");
    }
  }
  [[noreturn]] void give_up(int other, double seconds) const {
    throw train::LostRank((other == kAnybody ? std::string("another rank") : named(other)) + " has not answered for " +
                          std::to_string(static_cast<int64_t>(seconds)) + " s; the network may be cut");
  }

  const MpiCalls& calls_;
  int rank_ = 0, size_ = 1;
  double patience_ = 0, sent_ = 0;
  std::vector<Member> members_;
  std::unordered_map<Transfer, Pending> pending_;
  Transfer last_ = 0;
  std::vector<int> offsets_, counts_;
};

}  // namespace

Launch launch() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return {.rank = rank ? std::max(0, std::atoi(rank)) : 0,
          .size = number_in_environment("OMPI_COMM_WORLD_SIZE", 1),
          .on_this_machine = number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE", 1)};
}

int threads_of(const Launch& launch, int allowed, int cores) {
  return std::clamp(cores / std::max(1, launch.on_this_machine), 1, std::max(1, allowed));
}

std::unique_ptr<train::Company> company() {
  const int size = launch().size;
  if (size == 1) return std::make_unique<train::Company>();
  return std::make_unique<MpiCompany>(loaded_calls(size));
}

}  // namespace attend::dist
