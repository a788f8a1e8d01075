// One page for the browsers of this machine.
#include "ingot/pages/local_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <string_view>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/pages/page.h"

namespace ingot::pages {
namespace {

constexpr std::size_t kLongestRequest = 16 * 1024;
constexpr int kWait = 100;                // milliseconds between looks at the budget
constexpr std::size_t kMostClients = 64;  // beyond these, whoever came first goes
constexpr std::chrono::seconds kToAsk{10}, kToRead{60};

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

/// The value of a header, as it is; empty: there is none, or more than one.
std::string header(const std::string& request, const std::string& name) {
  const std::string all = lower(request), key = "\r\n" + name + ":";
  const std::size_t at = all.find(key);
  if (at == std::string::npos || all.find(key, at + 1) != std::string::npos) return {};
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

/// Someone who is connected. Browsers open connections that they may need later: nobody waits for another.
struct LocalServer::Client {
  using Clock = std::chrono::steady_clock;

  explicit Client(int its_socket) : socket(its_socket), end(Clock::now() + kToAsk) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(socket); }

  bool has_asked() const { return !answer.empty(); }
  /// Whether the call that gave `result` goes on later.
  static bool must_wait(ssize_t result) { return result < 0 && (errno == EAGAIN || errno == EINTR); }

  int socket;
  std::string request{}, answer{};
  std::size_t sent = 0;
  Clock::time_point end;
};

LocalServer::LocalServer(std::string html) : html_(std::move(html)) {
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) throw failed("no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(socket_, 64) != 0 ||
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
  std::list<Client> clients;
  for (;;) {
    current_budget().poll();
    std::vector<pollfd> waiting{{socket_, POLLIN, 0}};
    for (const Client& c : clients) {
      const int wanted = c.has_asked() ? POLLOUT : POLLIN;
      waiting.push_back({c.socket, static_cast<short>(wanted), 0});
    }
    if (poll(waiting.data(), waiting.size(), kWait) < 0) continue;
    auto ready = waiting.begin() + 1;
    std::erase_if(clients, [&](Client& c) { return (ready++)->revents ? !serve(c) : Client::Clock::now() > c.end; });
    if (!waiting[0].revents) continue;
    const int socket = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) continue;
    if (clients.size() == kMostClients) clients.pop_front();
    clients.emplace_back(socket);
  }
}

bool LocalServer::serve(Client& client) const {
  if (!client.has_asked()) {
    std::array<char, 4096> buffer{};
    const ssize_t got = recv(client.socket, buffer.data(), buffer.size(), 0);
    if (got <= 0) return Client::must_wait(got);
    client.request.append(buffer.data(), static_cast<std::size_t>(got));
    if (client.request.find("\r\n\r\n") == std::string::npos && client.request.size() < kLongestRequest)
      return Client::Clock::now() < client.end;
    client.answer = response_to(client.request);
    client.end = Client::Clock::now() + kToRead;
    return true;
  }
  const std::string_view rest = std::string_view(client.answer).substr(client.sent);
  const ssize_t wrote = send(client.socket, rest.data(), rest.size(), MSG_NOSIGNAL);
  if (wrote <= 0) return Client::must_wait(wrote);
  client.sent += static_cast<std::size_t>(wrote);
  return client.sent < client.answer.size() && Client::Clock::now() < client.end;
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
