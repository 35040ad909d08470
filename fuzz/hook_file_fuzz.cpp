// A HOOK.yaml as anybody may write it.  Finds crashes, in the library too; what is accepted keeps
// its bounds, and what is refused says where and why.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "core/limits.hpp"
#include "foreign/hook_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace knell;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = foreign::parse_hook_file(text, "HOOK.yaml");
    if (!file) {
        CHECK(!file.error().empty());
        for (const auto& problem : file.error()) {
            CHECK(problem.place >= TextPlace{});
            CHECK(!problem.message.empty());
        }
        return 0;
    }
    CHECK(!file->events.empty());
    CHECK(file->command.size() <= limits::command_words_max);
    CHECK(file->timeout.value_or(std::chrono::seconds{1}).count() >= 1);
    CHECK(file->concurrency.value_or(1) >= 1);
    return 0;
}
