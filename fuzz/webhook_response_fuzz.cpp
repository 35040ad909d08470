// The head of an answer as a receiver may send it, with everything that a stranger can put there.
// Whatever it is, what comes out must be fit to be logged, and no receiver can make us wait for
// longer than a day.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "base/text.hpp"
#include "core/limits.hpp"
#include "deliver/webhook/response.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    knell::ResponseHead head;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (!head.add_line(line)) break;
    }

    const auto now = knell::from_millis(1'794'714'745'000);
    const auto outcome = knell::outcome_of(head, {}, now);

    CHECK(!outcome.what.empty() && outcome.what.size() < 300);
    CHECK(!knell::has_control_character(outcome.what) && knell::is_utf8(outcome.what));
    CHECK(outcome.kind != knell::Outcome::Kind::delivered || *head.status() / 100 == 2);
    if (outcome.retry_after) {
        CHECK(outcome.kind == knell::Outcome::Kind::failed);
        CHECK(*outcome.retry_after > std::chrono::seconds{0});
        CHECK(*outcome.retry_after <= knell::limits::webhook_retry_after_max);
    }
    return 0;
}
