#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "daemon/spool_text.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/record_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    knell::testing::InProcessBackend backend;
    auto commands = knell::parse_spool({reinterpret_cast<const char*>(data), size}, backend);
    if (!commands) {
        CHECK(!commands.error().message.empty());
        return 0;
    }
    for (auto& command : *commands) static_cast<void>(backend.commit(std::move(command)));
    CHECK(knell::testing::broken_promises(backend.reader()).empty());
    return 0;
}
