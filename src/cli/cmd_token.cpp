#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/output.hpp"
#include "platform/token_file.hpp"

namespace knell::cli {

namespace {

constexpr auto footer = R"help(
Actions:
  show    print the token that HTTP clients send as `Authorization: Bearer TOKEN`
  rotate  make a new one and print it; the daemon takes it within a second, refuses the old one
          from then on, and closes the connections that were opened with it

The tokens are in the files token and token.read of the home, which only you can read. A daemon
makes them when it starts and finds none.

Examples:
  curl -H "Authorization: Bearer $(knell token show --read)" http://127.0.0.1:7717/v1/sessions
  knell token rotate

Exit status: 0 done, 1 there is none or its file cannot be used, 2 wrong usage.)help";

class Token final : public Command {
  public:
    void declare(CLI::App& app) override {
        app.add_option("ACTION", action_, "What to do: show or rotate")
            ->check(CLI::IsMember(std::vector<std::string>{"show", "rotate"}))
            ->required();
        app.add_flag("--read", read_only_, "The token that may only read");
        app.footer(footer);
    }

    int run(const Context& context) override {
        const auto path =
            token_path(context.paths, read_only_ ? TokenKind::read_only : TokenKind::full);
        auto token = action_ == "show" ? read_token(path) : rotate_token(path);
        if (!token && token.error().code == ErrorCode::not_found) {
            return complain("token", fmt::format("there is no {} yet; start the daemon with `knell "
                                                 "up`, or make it with `knell token rotate{}`",
                                                 path, read_only_ ? " --read" : ""));
        }
        if (!token) return complain("token", token.error());
        print_line(*token);
        return exit_done;
    }

  private:
    std::string action_;
    bool read_only_ = false;
};

}  // namespace

std::unique_ptr<Command> make_token() {
    return std::make_unique<Token>();
}

}  // namespace knell::cli
