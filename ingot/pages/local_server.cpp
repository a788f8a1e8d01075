// One page for the browsers of this machine.
#include "ingot/pages/local_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/pages/page.h"

namespace ingot::pages {
namespace {

constexpr std::size_t kLongestRequest = 16 * 1024;
constexpr int kWait = 100;    // milliseconds between looks at the budget
constexpr int kPatience = 2;  // seconds for a request, so that nobody keeps the others waiting

Error failed(const char* what) { return Error(Code::cannot_open, std::string(what) + ": " + std::strerror(errno)); }

std::string token() {
  std::array<unsigned char, 16> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    throw failed("no random numbers");
  std::string text;
  for (const unsigned char byte : random) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// The value of a header, as it is; empty: there is none.
std::string header(const std::string& request, const std::string& name) {
  const std::string all = lower(request);
  const std::size_t at = all.find("\r\n" + name + ":");
  if (at == std::string::npos) return {};
  std::size_t begin = at + name.size() + 3;
  while (begin < request.size() && request[begin] == ' ') ++begin;
  return request.substr(begin, request.find("\r\n", begin) - begin);
}

std::string response(const char* status, const std::string& type, const std::string& body) {
  return std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type +
         "; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: "
         "no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: "
         "DENY\r\nContent-Security-Policy: " +
         policy() + "\r\n\r\n" + body;
}

}  // namespace

LocalServer::LocalServer(std::string html) : html_(std::move(html)) {
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) throw failed("no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(socket_, 8) != 0 ||
      getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const Error error = failed("cannot listen on 127.0.0.1");
    close(socket_);
    throw error;
  }
  host_ = ":" + std::to_string(ntohs(address.sin_port));
  path_ = "/" + token() + "/";
  address_ = "http://127.0.0.1" + host_ + path_;
}

LocalServer::~LocalServer() { close(socket_); }

void LocalServer::serve() {
  for (;;) {
    current_budget().poll();
    pollfd waiting{socket_, POLLIN, 0};
    if (poll(&waiting, 1, kWait) <= 0) continue;
    const int client = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    const timeval patience{kPatience, 0};
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    answer(client);
    close(client);
  }
}

void LocalServer::answer(int client) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(kPatience);
  std::string request;
  std::array<char, 4096> buffer{};
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < kLongestRequest && Clock::now() < end) {
    const ssize_t got = recv(client, buffer.data(), buffer.size(), 0);
    if (got <= 0) return;
    request.append(buffer.data(), static_cast<std::size_t>(got));
  }
  const std::string text = response_to(request);
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t wrote = send(client, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (wrote <= 0) return;
    sent += static_cast<std::size_t>(wrote);
  }
}

std::string LocalServer::response_to(const std::string& request) const {
  const std::string host = lower(header(request, "host"));
  if (host != "127.0.0.1" + host_ && host != "localhost" + host_)
    return response("403 Forbidden", "text/plain", "this server answers to 127.0.0.1 only\n");
  if (!request.starts_with("GET ")) return response("405 Method Not Allowed", "text/plain", "GET only\n");
  const std::string path = request.substr(4, request.find(' ', 4) - 4);
  if (path != path_) return response("404 Not Found", "text/plain", "not here\n");
  return response("200 OK", "text/html", html_);
}

}  // namespace ingot::pages
