#include "store/sqlite/process_text.hpp"

#include "base/text.hpp"
#include "store/sqlite/row_binder.hpp"
#include "store/sqlite/row_reader.hpp"
#include "store/sqlite/word_lines.hpp"

namespace knell::sqlite {

namespace {

/// What Binder is for a statement.
class FieldWriter {
  public:
    void text(const std::string& value) { add_line(lines_, value); }
    void optional(const std::string& value) { add_line(lines_, value); }
    void word(std::string_view literal) { add_line(lines_, literal); }
    void number(std::int64_t value) { add_line(lines_, std::to_string(value)); }
    void null() { add_line(lines_, {}); }
    void time(WallTime value) { number(to_millis(value)); }
    void time(std::optional<WallTime> value) { value ? time(*value) : null(); }
    void words(const std::vector<std::string>& words) { add_line(lines_, to_lines(words)); }

    std::string take() { return std::move(lines_); }

  private:
    std::string lines_;
};

/// What WrappedRow is of a statement.
class FieldRow {
  public:
    explicit FieldRow(std::string_view text) : fields_(words_from_lines(text)) {}

    bool is_null(int column) const { return text(column).empty(); }
    std::string_view text(int column) const {
        const auto at = static_cast<std::size_t>(column);
        return at < fields_.size() ? std::string_view(fields_[at]) : std::string_view();
    }
    std::int64_t number(int column) const { return number_in<std::int64_t>(text(column)); }

  private:
    std::vector<std::string> fields_;
};

}  // namespace

std::string to_text(const BackgroundProcess& process) {
    FieldWriter fields;
    RowBinder columns(fields);
    process_columns(columns, process);
    return fields.take();
}

BackgroundProcess process_from_text(std::string_view text) {
    RowReader reader(FieldRow{text});
    BackgroundProcess process;
    process_columns(reader, process);
    return process;
}

}  // namespace knell::sqlite
