// Options of the server: where it listens, and the bounds within which it takes requests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/decode/search.h"
#include "attend/kernels/parallel.h"

namespace attend::serve {

/// Of a time in seconds: up to a day.
inline const Bounds kTime = bounds::above_up_to(0, 86'400);

/// What one request may ask for; more is refused before anything is computed.
struct Limits {
  int64_t body_bytes = 1 << 20;
  int64_t text_characters = 10'000;
  int64_t document_characters = 400'000;
  int64_t texts = 256;
  int64_t beam = 32;
  int64_t n_best = 32;
  int64_t answer_tokens = 2'000;
  int64_t cost = 1'000'000;
  int64_t weights = 32'000'000;  // 128 MB, and four times that as JSON
  int64_t image_pixels = 4'000'000;
  double sound_seconds = 120;
  double seconds = 60;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("body_bytes", body_bytes, "largest body of a request", bounds::at_least(1));
    visit("text_characters", text_characters, "longest text", bounds::at_least(1));
    visit("document_characters", document_characters, "longest document about which a question is asked",
          bounds::at_least(1));
    visit("texts", texts, "most texts, or questions, in one request", bounds::at_least(1));
    visit("beam", beam, "widest beam that may be asked for", bounds::within(1, decode::kWidestBeam));
    visit("n_best", n_best, "most answers per text that may be asked for", bounds::within(1, decode::kWidestBeam));
    visit("answer_tokens", answer_tokens, "longest answer, and greatest max_length that may be asked for",
          bounds::within(1, decode::kLongestAnswer));
    visit("cost", cost, "most texts × beam × tokens of an answer; to explain one, tokens that are read again for it",
          bounds::at_least(1));
    visit("weights", weights, "most weights of attention that are kept to explain an answer", bounds::at_least(1));
    visit("image_pixels", image_pixels, "largest image", bounds::at_least(1));
    visit("sound_seconds", sound_seconds, "longest sound", bounds::within(1, 3600));
    visit("seconds", seconds, "most time for a request, waiting included", kTime);
  }
};

/// What all clients together may hold. Idle and slow ones hold a socket and their unread bytes, never a thread.
struct Traffic {
  int64_t workers = 0;
  int64_t threads = 0;
  int64_t waiting = 64;
  int64_t long_requests = 8;
  int64_t connections = 1000;
  double read_seconds = 10;
  double write_seconds = 10;
  double idle_seconds = 30;
  double stop_seconds = 8;  // Docker gives a container 10
  int64_t unsent_bytes = 256 << 20;
  int64_t lab_bytes = 256 << 20;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("workers", workers, "requests that are computed at once; 0: as many as the machine has cores, at most 4",
          bounds::within(0, kernels::kMostThreads));
    visit("threads", threads, "threads that they share; 0: as many as the machine has cores",
          bounds::within(0, kernels::kMostThreads));
    visit("waiting", waiting, "requests that wait for a worker; further ones are told to come back (503)",
          bounds::within(0, 10'000));
    visit(
        "long_requests", long_requests,
        "long requests that are begun and take turns, each with its state in memory; further ones wait for one to end",
        bounds::within(1, 1000));
    visit("connections", connections, "open connections; beyond them, the one that was idle for longest is closed",
          bounds::within(1, 1'000'000));
    visit("read_seconds", read_seconds, "time that a client has to send a whole request", kTime);
    visit("write_seconds", write_seconds, "time that a client has to take a whole answer, or one part of a stream",
          kTime);
    visit("idle_seconds", idle_seconds, "time that a connection is kept open between requests", kTime);
    visit("stop_seconds", stop_seconds, "time to finish what was asked for when told to stop; then it is given up",
          kTime);
    visit("unsent_bytes", unsent_bytes,
          "answers that wait for clients to take them; beyond that, whoever has had most time for it is let go",
          bounds::at_least(1));
    visit("lab_bytes", lab_bytes,
          "weights of models of the lab that are held at once; the one that was asked longest ago makes room for the "
          "next",
          bounds::at_least(1));
  }
};

/// Who may ask, and how their requests come.
struct Security {
  std::string keys;
  bool open_metrics = false;
  std::string cert, key;
  std::vector<std::string> public_host;
  std::vector<std::string> cors;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("keys", keys,
          "file of the keys with which one may ask: on each line a name, the key or its SHA-256, requests per minute, "
          "admin; SIGHUP reads it again",
          bounds::files_to_read());
    visit("open_metrics", open_metrics, "/metrics needs no key");
    visit("cert", cert, "PEM file of a certificate: TLS alone; SIGHUP reads it again", bounds::files_to_read());
    visit("key", key, "PEM file of its key", bounds::files_to_read());
    visit("public_host", public_host, "name under which visitors know this server, and to which alone it answers");
    visit("cors", cors, "origin (https://name) whose pages may use this server from a browser");
  }
};

struct ServeOptions {
  std::string host = "127.0.0.1";
  int64_t port = 8080;
  std::string log = "none";
  std::string lab;
  std::string models;
  Limits limits;
  Traffic traffic;
  Security security;

  /// Only what is the server's own: limits, traffic and security are groups of their own.
  template <class Visit>
  void fields(Visit&& visit) {
    visit("host", host, "address to listen on; 0.0.0.0: all of this machine's, for everyone who can reach it");
    visit("port", port, "0: any that is free; the address is printed", bounds::within(0, 65535));
    visit("log", log, "a line on standard error for each request: none, text or json",
          bounds::one_of({"none", "text", "json"}));
    visit("lab", lab, "folder of a finished experiment of `attend lab`, or of several: a page that leads through them",
          bounds::files_to_read());
    visit("models", models,
          "folder whose folders are models: all are served, and others below it may be loaded while serving",
          bounds::files_to_read());
  }
};

}  // namespace attend::serve
