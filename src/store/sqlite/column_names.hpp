#pragma once

#include <string>
#include <vector>

#include "store/sqlite/columns.hpp"

namespace knell::sqlite {

/// Writes down the names of the columns of columns.hpp.
class ColumnNames {
  public:
    /// "id, key, source": for SELECT and INSERT.
    std::string list() const { return joined("", ""); }
    /// "table.id, table.key, table.source": where several tables are read at once.
    std::string list_of(const char* table) const { return joined(table, ""); }
    /// "id = ?, key = ?, source = ?": for UPDATE.
    std::string assignments() const { return joined("", " = ?"); }
    /// "id = NULL, key = NULL, source = NULL".
    std::string cleared() const { return joined("", " = NULL"); }
    std::size_t size() const { return names_.size(); }

    // clang-format off
    void number(const char* name, const auto&) { add(name); }
    void text(const char* name, const auto&) { add(name); }
    void optional(const char* name, const auto&) { add(name); }
    void id(const char* name, const auto&) { add(name); }
    void word(const char* name, const auto&, const auto&) { add(name); }
    void time(const char* name, const auto&) { add(name); }
    void maybe_time(const char* name, const auto&) { add(name); }
    void time_or(const char* name, const auto&, const auto&) { add(name); }
    void seconds(const char* name, const auto&) { add(name); }
    void milliseconds(const char* name, const auto&) { add(name); }
    void listened(const char* name, const auto&) { add(name); }
    void reason(const char* name, const auto&) { add(name); }
    void proof(const char* name, const auto&) { add(name); }
    void lines(const char* name, const auto&) { add(name); }
    void derived(const char* name, const auto&) { add(name); }
    void labels(const char* name, const auto&, bool) { add(name); }
    void words(const char* name, const auto&) { add(name); }
    void process(const char* name, const auto&) { add(name); }
    void compression(const char* name, const auto&) { add(name); }
    void stuck(const char* name, const auto&) { add(name); }
    // clang-format on
    void when(bool, const auto& rest) { rest(); }
    void end(const auto&) {
        const End none;
        end_columns(*this, none);
    }
    void end_or_detail(const auto& told, const auto&) { end(told); }
    void exit(const auto&) {
        const ProcessExit none;
        exit_columns(*this, none);
    }

  private:
    void add(const char* name) { names_.emplace_back(name); }
    std::string joined(const char* table, const char* suffix) const {
        std::string text;
        for (const auto* name : names_) {
            if (!text.empty()) text += ", ";
            if (*table != '\0') text.append(table).append(".");
            text += name;
            text += suffix;
        }
        return text;
    }

    std::vector<const char*> names_;
};

/// Those of one table, or of a part of one: names_of<Session>([](auto& c, auto& s) { … }).
template <typename Row>
ColumnNames names_of(auto&& columns_of) {
    ColumnNames names;
    const Row row{};
    columns_of(names, row);
    return names;
}

}  // namespace knell::sqlite
