#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "config/key_table.hpp"

namespace knell::testing {

/// A file in which one key is tried, and how it is read.
struct Reading {
    /// The whole file, with this behind the key.
    std::function<std::string(const Key& key, std::string_view value)> file_with;
    std::function<bool(const std::string& file)> is_accepted;
    /// Keys of which the reader knows more than a schema can say: what the schema refuses it must
    /// refuse, and no more.
    std::span<const std::string_view> known_better;
};

/// Of every key and every value that is worth trying, the schema and the reader say the same.
void expect_agreement(const KeyTable& table, const Reading& reading);

/// The same of one value.
void expect_agreement_on(const KeyTable& table, const Reading& reading, const Key& key,
                         std::string_view value);

}  // namespace knell::testing
