// What of the server's parts is to be seen in /metrics.
#pragma once

#include "serve/connections.h"
#include "serve/metrics.h"
#include "serve/models.h"
#include "serve/workers.h"

namespace attend::serve {

// Each has to live for as long as the metrics are read.
void watch(Metrics& metrics, const Connections& connections);
void watch(Metrics& metrics, const Workers& workers);
void watch(Metrics& metrics, const Models& models);
void watch_memory(Metrics& metrics);

}  // namespace attend::serve
