// A config.yaml of Hermes as anybody may write it, with the text of a .env behind a NUL.  Finds
// crashes, also of aliases that grow; what is wrong says where and why, on one line.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "foreign/hermes/config_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace knell;
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto end = std::min(input.find('\0'), input.size());
    hermes::HermesEnvironment environment{
        .file = "/h/.env",
        .lines = hermes::parse_env_file(input.substr(std::min(end + 1, input.size()))),
        .api_server_key = {}};
    for (const auto& line : environment.lines) CHECK(line.line >= 1);

    const auto problems =
        hermes::check_hermes_config(input.substr(0, end), "/h/config.yaml", environment);

    for (const auto& problem : problems) {
        CHECK(problem.place >= (TextPlace{.line = 1, .column = 1}));
        CHECK(!problem.message.empty());
        CHECK(!to_text(problem).contains('\n'));
    }
    return 0;
}
