// `attend` as a process that runs beside the test: written to, read from, signalled.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace attend::test {

class Process {
 public:
  /// `errors`: a file for its standard error.
  Process(std::vector<std::string> arguments, const std::string& errors = "/dev/null") {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    arguments.insert(arguments.begin(), ATTEND_BINARY);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    id_ = ::fork();
    if (id_ < 0) throw std::runtime_error("no process");
    if (id_ == 0) {
      const int error = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(in[0], STDIN_FILENO), ::dup2(out[1], STDOUT_FILENO), ::dup2(error, STDERR_FILENO);
      ::execv(ATTEND_BINARY, argv.data());
      ::_exit(127);
    }
    ::close(in[0]), ::close(out[1]);
    input_ = in[1], output_ = out[0];
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (!ended_) signal(SIGKILL), wait();
    close_input(), ::close(output_);
  }

  bool write(std::string_view text) const {
    return ::write(input_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  void close_input() {
    if (input_ >= 0) ::close(input_);
    input_ = -1;
  }
  /// The next line of its standard output, without its end; what is there after `seconds` where none came.
  std::string line(int seconds) const {
    std::string text;
    pollfd output{output_, POLLIN, 0};
    for (char c; ::poll(&output, 1, 1000 * seconds) > 0 && ::read(output_, &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  /// The descriptor of its standard output, to be polled.
  int output() const { return output_; }
  void signal(int number) const { ::kill(id_, number); }
  /// Whether it has ended by itself.
  bool ended() {
    if (!ended_) ended_ = ::waitpid(id_, &status_, WNOHANG) == id_;
    return ended_;
  }
  /// Its exit code, or 128 and the signal that ended it.
  int wait() {
    if (!ended_) ::waitpid(id_, &status_, 0);
    ended_ = true;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }

 private:
  pid_t id_ = -1;
  int input_ = -1, output_ = -1, status_ = 0;
  bool ended_ = false;
};

}  // namespace attend::test
