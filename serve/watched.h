// What of the server's parts is to be seen in /metrics.
#pragma once

#include "serve/api.h"
#include "serve/connections.h"
#include "serve/metrics.h"
#include "serve/models.h"

namespace attend::serve {

// Each has to live for as long as the metrics are read.
void watch(Metrics& metrics, const Connections& connections);
void watch(Metrics& metrics, const Api& api);
void watch(Metrics& metrics, const Models& models);
void watch_memory(Metrics& metrics);

}  // namespace attend::serve
