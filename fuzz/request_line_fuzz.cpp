// Lines as a client may send them, several a run, against the methods with everything behind them
// but sockets.  Finds crashes and broken invariants; each line must have exactly one answer, and
// what is on record afterwards must keep every promise.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/record_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    knell::testing::InProcessBackend backend;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto answer = backend.answer(line);
        CHECK(answer.empty() || answer.ends_with('\n'));
    }
    CHECK(knell::testing::broken_promises(backend.reader()).empty());
    return 0;
}
