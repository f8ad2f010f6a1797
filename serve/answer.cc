#include "serve/answer.h"

#include <algorithm>
#include <cstdio>

namespace attend::serve {
namespace {

struct StatusRow {
  int status;
  std::string_view reason;
};
constexpr StatusRow kStatuses[] = {
    // RFC 9110, 15; RFC 6585
    {200, "OK"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

}  // namespace

std::string_view reason_of(int status) {
  const auto* const row = std::ranges::find(kStatuses, status, &StatusRow::status);
  return row == std::end(kStatuses) ? "Unknown" : row->reason;
}

std::string head_text(const Head& head, const Framing& framing) {
  std::string text = "HTTP/1.1 " + std::to_string(head.status) + " ";
  text += reason_of(head.status);
  for (const auto& [name, value] : head.fields) text.append("\r\n").append(name).append(": ").append(value);
  const bool empty = head.status == 204 || head.status == 304;
  if (!empty) text.append("\r\nContent-Type: ").append(head.type);
  if (framing.chunked && !framing.old) text += "\r\nTransfer-Encoding: chunked";
  if (!framing.chunked && !empty) text += "\r\nContent-Length: " + std::to_string(framing.length);
  if (framing.close) text += "\r\nConnection: close";
  if (!framing.close && framing.old) text += "\r\nConnection: keep-alive";
  return text + "\r\n\r\n";
}

std::string chunk(std::string_view bytes) {
  char size[24];
  std::snprintf(size, sizeof(size), "%zx\r\n", bytes.size());
  return std::string(size).append(bytes).append("\r\n");
}

}  // namespace attend::serve
