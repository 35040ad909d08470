#include "testing/schema_agreement.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "testing/schema_check.hpp"
#include "testing/written_values.hpp"

namespace knell::testing {

void expect_agreement_on(const KeyTable& table, const Reading& reading, const Key& key,
                         std::string_view value) {
    const auto file = reading.file_with(key, value);
    const bool by_schema = schema_accepts(table, file);
    const bool by_reader = reading.is_accepted(file);
    const auto& better = reading.known_better;
    if (by_schema && std::ranges::find(better, key.path) != better.end()) return;
    constexpr std::size_t shown_max = 300;
    EXPECT_EQ(by_schema, by_reader) << key.path << " in " << file.substr(0, shown_max);
}

void expect_agreement(const KeyTable& table, const Reading& reading) {
    for (const auto& key : table.keys) {
        for (const auto& value : written_values(key)) {
            expect_agreement_on(table, reading, key, value);
        }
    }
}

}  // namespace knell::testing
