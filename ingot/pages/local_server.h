#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace ingot::pages {

/// Serves one page to the browsers of this machine: on 127.0.0.1 alone, under an address that nobody can guess, and
/// only to requests that name this very server (Host), so that no page from elsewhere can read it.
class LocalServer {
 public:
  /// Listens on a free port. Throws Error if it cannot.
  explicit LocalServer(std::string html);
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;
  ~LocalServer();

  /// "http://127.0.0.1:40123/3f2a.../"
  const std::string& address() const { return address_; }
  /// Answers until current_budget() is cancelled, which throws.
  void serve();

 private:
  struct Client;

  /// Reads or writes what is there to be; false: it is over.
  bool serve(Client& client) const;
  std::string response_to(const std::string& request) const;

  std::string html_, path_, host_, address_;
  int socket_ = -1;
};

}  // namespace ingot::pages
