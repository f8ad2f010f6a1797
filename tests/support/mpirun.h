// Several ranks of `attend`, started by Open MPI as its users start them.
#pragma once

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace attend::test {

/// Whether there is an mpirun, and what it loads was built. A test skips otherwise.
inline bool has_mpirun() {
  return std::filesystem::exists(std::filesystem::path(ATTEND_BINARY).parent_path() / "libattend_mpi.so") &&
         shell("command -v mpirun").code == 0;
}

/// What Open MPI needs where more ranks run than there are cores, as root, in a container, without a network: it neither binds ranks
/// to cores nor says what it could not find. Ranks that wait give their core away.
inline std::string mpi_environment() {
  return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
         "OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 "
         "OMPI_MCA_btl_base_warn_component_unused=0 "
         "OMPI_MCA_btl_vader_single_copy_mechanism=none OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive ";
}

/// `attend` with these arguments as so many ranks.
inline std::string mpirun_command(int ranks, const std::string& arguments) {
  return mpi_environment() + "mpirun --oversubscribe -n " + std::to_string(ranks) + " '" ATTEND_BINARY "' " + arguments;
}
inline Result mpirun(int ranks, const std::string& arguments) { return shell(mpirun_command(ranks, arguments)); }

/// The process of a rank whose command line has this in it; 0 if there is none.
inline pid_t process_of_rank(int rank, const std::string& part) {
  const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
  const auto text_of = [](const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    const std::string environment = '\0' + text_of(entry.path() / "environ");
    if (environment.find('\0' + wanted + '\0') == environment.npos) continue;
    if (text_of(entry.path() / "cmdline").find(part) != std::string::npos) return std::stoi(name);
  }
  return 0;
}

}  // namespace attend::test
