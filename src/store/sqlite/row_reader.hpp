#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "core/names.hpp"
#include "store/sqlite/columns.hpp"
#include "store/sqlite/process_text.hpp"
#include "store/sqlite/readable_text.hpp"
#include "store/sqlite/word_lines.hpp"

namespace knell::sqlite {

/// A row as SQLiteCpp gives it.
struct WrappedRow {
    SQLite::Statement& row;
    bool is_null(int column) const { return row.getColumn(column).isNull(); }
    std::string text(int column) const { return row.getColumn(column).getString(); }
    std::int64_t number(int column) const { return row.getColumn(column).getInt64(); }
};

/// A row as SQLite itself gives it: for the log, which is read by the million.
struct BareRow {
    sqlite3_stmt* row;
    bool is_null(int column) const { return sqlite3_column_type(row, column) == SQLITE_NULL; }
    std::string_view text(int column) const {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
        return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
    }
    std::int64_t number(int column) const { return sqlite3_column_int64(row, column); }
};

/// Reads the columns of columns.hpp from left to right.  NULL is 0 and "".
template <typename Row>
class RowReader {
  public:
    explicit RowReader(Row row) : row_(row) {}

    template <typename Number>
    void number(const char*, Number& value) {
        value = static_cast<Number>(row_.number(next_++));
    }
    void text(const char*, std::string& value) {
        value = readable_text(std::string(row_.text(next_++)));
    }
    void optional(const char* name, std::string& value) { text(name, value); }
    template <typename Id>
    void id(const char*, Id& value) {
        value = Id(std::string(row_.text(next_++)));
    }
    template <typename Enum, std::size_t Count>
    void word(const char* name, const std::array<std::string_view, Count>& names, Enum& value) {
        const std::string text(row_.text(next_++));
        const auto found = find_in<Enum>(names, text);
        if (!found) refuse(name, text);
        value = *found;
    }
    void time(const char*, WallTime& value) { value = from_millis(row_.number(next_++)); }
    void maybe_time(const char* name, std::optional<WallTime>& value) {
        if (skip_null()) return value.reset();
        time(name, value.emplace());
    }
    /// Before there was a column for it, or since the other was written last.
    void time_or(const char* name, WallTime& value, const WallTime& otherwise) {
        std::optional<WallTime> found;
        maybe_time(name, found);
        value = found.value_or(otherwise);
    }
    void seconds(const char*, std::chrono::seconds& value) {
        value = std::chrono::seconds{row_.number(next_++)};
    }
    void milliseconds(const char*, std::chrono::milliseconds& value) {
        value = std::chrono::milliseconds{row_.number(next_++)};
    }
    void listened(const char*, std::optional<SteadyTime>& value) {
        if (skip_null()) return value.reset();
        value = SteadyTime{std::chrono::milliseconds{row_.number(next_++)}};
    }
    /// See Binder::labels.
    void labels(const char*, std::optional<Labels>& value, bool& after_end) {
        after_end = false;
        if (skip_null()) return value.reset();
        const auto text = readable_text(std::string(row_.text(next_++)));
        after_end = text.starts_with('+');
        if (text == "+") return value.reset();
        value = labels_from_text(std::string_view(text).substr(after_end ? 1 : 0));
    }
    void reason(const char* name, Reason& value) {
        const std::string text(row_.text(next_++));
        const auto found = parse_reason(text);
        if (!found) refuse(name, text);
        value = *found;
    }
    void proof(const char* name, End& end) {
        end.proof = row_of(end.reason).proof;  // as it was before there was a column for it
        if (!skip_null()) word(name, proof_names, end.proof);
    }
    void lines(const char*, std::vector<Leftover>& value) {
        value = leftovers_from_lines(readable_text(std::string(row_.text(next_++))));
    }
    void lines(const char*, std::vector<ProcessIdentity>& value) {
        value = processes_from_lines(row_.text(next_++));
    }
    void lines(const char*, std::vector<Blocker>& value) {
        value = blockers_from_lines(readable_text(std::string(row_.text(next_++))));
    }
    void lines(const char*, std::vector<ProcessId>& value) {
        value.clear();
        for (auto& id : words_from_lines(row_.text(next_++))) value.emplace_back(std::move(id));
    }
    void words(const char*, std::vector<std::string>& value) {
        value = words_from_lines(readable_text(std::string(row_.text(next_++))));
    }
    void process(const char*, std::optional<BackgroundProcess>& value) {
        if (skip_null()) return value.reset();
        value = process_from_text(row_.text(next_++));
    }
    void compression(const char*, std::optional<Compression>& value) {
        if (skip_null()) return value.reset();
        value = compression_from_text(readable_text(std::string(row_.text(next_++))));
    }
    void stuck(const char*, std::optional<Stuck>& value) {
        if (skip_null()) return value.reset();
        value = stuck_from_text(readable_text(std::string(row_.text(next_++))));
    }
    template <typename Value>
    void derived(const char*, Value&&) {
        ++next_;
    }
    template <typename Rest>
    void when(bool, Rest&& rest) {
        rest();
    }
    void end(std::optional<End>& end) {
        if (!row_.is_null(next_)) return end_columns(*this, end.emplace());
        end.reset();
        next_ += end_width;
    }
    void end_or_detail(std::optional<End>& told, std::string& detail) {
        if (row_.is_null(next_)) {
            detail = readable_text(std::string(row_.text(next_ + detail_in_end)));
        }
        end(told);
    }

    void exit(std::optional<ProcessExit>& exit) {
        if (!row_.is_null(next_)) return exit_columns(*this, exit.emplace());
        exit.reset();
        next_ += exit_width;
    }

  private:
    /// A word that we never wrote: the row is as good as damaged, and whoever asked for it is told.
    [[noreturn]] static void refuse(const char* column, const std::string& text) {
        throw SQLite::Exception(
            fmt::format("column {} holds \"{}\", which this version does not know", column, text),
            SQLITE_CORRUPT);
    }

    bool skip_null() {
        if (!row_.is_null(next_)) return false;
        ++next_;
        return true;
    }

    Row row_;
    int next_ = 0;
};

}  // namespace knell::sqlite
