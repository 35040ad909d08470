#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace knell::testing {

/// What belongs between the line `marker` ("<!-- methods -->") and the next "<!-- end -->"; nothing
/// when no table begins there.
using TableFor = std::function<std::optional<std::string>(std::string_view marker)>;

/// Fails the test unless every table of the page is what `table_for` gives for its marker; with
/// UPDATE_DOCS=1 in the environment the page is written.  Gives the markers that it found.
std::set<std::string> check_doc_page(const std::string& file, const TableFor& table_for);

}  // namespace knell::testing
