#include "wire/json_hash.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "core/guard.hpp"

namespace knell::wire {

namespace {

enum class Kind : std::uint8_t { null, boolean, whole, fraction, text, array, object };

std::uint64_t begin_of(Kind kind) {
    return static_cast<std::uint64_t>(kind) + 1;
}

std::uint64_t hash_of_whole(std::uint64_t bits, bool is_negative) {
    return CallHash().add(begin_of(Kind::whole)).add(bits).add(is_negative ? 1U : 0U).value();
}

/// 1.0 is 1.
std::uint64_t hash_of_double(double number) {
    constexpr auto whole_max = 9007199254740992.0;  // 2^53: every whole number up to there is exact
    if (std::trunc(number) == number && std::abs(number) <= whole_max) {
        const auto whole = static_cast<std::int64_t>(number);
        return hash_of_whole(static_cast<std::uint64_t>(whole), whole < 0);
    }
    return CallHash()
        .add(begin_of(Kind::fraction))
        .add(std::bit_cast<std::uint64_t>(number))
        .value();
}

std::uint64_t hash_of_array(const JsonArray& array) {
    CallHash hash;
    hash.add(begin_of(Kind::array));
    for (const auto& item : array) hash.add(hash_of(item));
    return hash.add(array.size()).value();
}

/// A sum, so that their order does not count.
std::uint64_t hash_of_object(const JsonObject& object) {
    std::uint64_t members = 0;
    std::uint64_t count = 0;
    for (const auto& [name, value] : object) {
        if (value.is_null()) continue;
        members += CallHash().add(std::string_view(name)).add(hash_of(value)).value();
        ++count;
    }
    return CallHash().add(begin_of(Kind::object)).add(members).add(count).value();
}

}  // namespace

std::uint64_t hash_of(const Json& value) {
    switch (value.kind()) {
        case boost::json::kind::null:
            return CallHash().add(begin_of(Kind::null)).value();
        case boost::json::kind::bool_:
            return CallHash().add(begin_of(Kind::boolean)).add(value.get_bool() ? 1U : 0U).value();
        case boost::json::kind::int64:
            return hash_of_whole(static_cast<std::uint64_t>(value.get_int64()),
                                 value.get_int64() < 0);
        case boost::json::kind::uint64:
            return hash_of_whole(value.get_uint64(), /*is_negative=*/false);
        case boost::json::kind::double_:
            return hash_of_double(value.get_double());
        case boost::json::kind::string:
            return CallHash()
                .add(begin_of(Kind::text))
                .add(std::string_view(value.get_string()))
                .value();
        case boost::json::kind::array:
            return hash_of_array(value.get_array());
        case boost::json::kind::object:
            return hash_of_object(value.get_object());
    }
    return 0;  // untestable: for the compiler
}

}  // namespace knell::wire
