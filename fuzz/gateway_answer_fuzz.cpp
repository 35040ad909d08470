// What another gateway answers, with everything that a stranger can put there.  Whatever it is,
// what is kept of it can be told on as our own answer, and its tag can be sent back in a header.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "base/text.hpp"
#include "space/gateway_answer.hpp"
#include "testing/field_check.hpp"
#include "wire/space_fields.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto answer = knell::read_gateway_answer({reinterpret_cast<const char*>(data), size});
    if (!answer) return 0;
    CHECK(!knell::has_control_character(answer->etag));
    for (const auto& session : answer->sessions) {
        CHECK(knell::testing::breach_of(knell::wire::fields::sprite_fields, session).empty());
        CHECK(!session.contains("gateway") && !session.contains("stale"));
    }
    return 0;
}
