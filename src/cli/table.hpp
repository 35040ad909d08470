#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/terminal.hpp"

namespace knell::cli {

enum class Tone : std::uint8_t { plain, good, warning, bad, faint, heading };

/// `text` in the colour of its tone, where the terminal has colours.
std::string toned(std::string_view text, Tone tone, const Terminal& terminal);

enum class Align : std::uint8_t { left, right };

struct Column {
    std::string title;
    Align align = Align::left;
    std::size_t shrink_to = 0;  // may be cut to this width; 0: never cut
    int drop_order = 0;         // left out when the table is too wide, 1 first; 0: never
    std::size_t least = 0;      // never narrower: lines up rows that are not rendered together
    bool keep_end = false;      // what is cut is the beginning
};

struct Cell {
    std::string text;  // "" is shown as "-"
    Tone tone = Tone::plain;
};

/// Rows under a heading, each column as wide as it needs.  On a terminal that is too narrow,
/// columns are first cut, then left out; where that is not enough, the widest one of those that are
/// never cut has a line of its own above the others.  A file or a pipe gets everything.
class Table {
  public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// One cell a column.
    void add(std::vector<Cell> row);
    bool empty() const { return rows_.empty(); }
    /// Whole: nothing has to be cut or left out.
    bool fits(const Terminal& terminal) const;
    /// One line a row, once columns are cut and left out.
    bool fits_on_lines(const Terminal& terminal) const;
    /// That column, be it cut.
    bool shows(std::size_t column, const Terminal& terminal) const;
    std::string render(const Terminal& terminal) const;
    /// Without the heading, below one that is there already.
    std::string render_rows(const Terminal& terminal) const;

  private:
    /// How one row is drawn: a width for each column, 0 for those that are left out.
    struct Layout {
        std::vector<std::size_t> above;  // a line of its own; empty: there is none
        std::vector<std::size_t> widths;
    };
    Layout layout_on(const Terminal& terminal) const;
    std::vector<std::size_t> natural_widths() const;
    std::string row_of(const std::vector<Cell>& cells, const Layout& layout,
                       const Terminal& terminal) const;

    const std::vector<Column> columns_;
    std::vector<std::vector<Cell>> rows_;
};

/// A name and what it is, for one thing told in full.
struct Fact {
    std::string name;
    std::string value;  // "": the fact is left out
    Tone tone = Tone::plain;
};

/// One line a fact, values aligned, nothing cut: what a terminal has no room for goes on below.
std::string render_facts(const std::vector<Fact>& facts, const Terminal& terminal);

}  // namespace knell::cli
