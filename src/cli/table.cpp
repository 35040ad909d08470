#include "cli/table.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

constexpr std::size_t gap = 2;

std::string_view escape_of(Tone tone) {
    switch (tone) {
        case Tone::plain:
            return "";
        case Tone::good:
            return "\x1b[32m";
        case Tone::warning:
            return "\x1b[33m";
        case Tone::bad:
            return "\x1b[31m";
        case Tone::faint:
            return "\x1b[2m";
        case Tone::heading:
            return "\x1b[1m";
    }
    return "";
}

/// How wide each column is drawn; 0: it is left out.
using Widths = std::vector<std::size_t>;

std::size_t total(const Widths& widths) {
    const auto shown = static_cast<std::size_t>(
        std::ranges::count_if(widths, [](std::size_t width) { return width > 0; }));
    const auto sum = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
    return shown == 0 ? 0 : sum + (shown - 1) * gap;
}

/// Cuts what may be cut, the widest first, until it fits or nothing is left to cut.
void shrink(Widths& widths, const std::vector<Column>& columns, std::size_t limit) {
    while (total(widths) > limit) {
        std::optional<std::size_t> widest;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (columns[i].shrink_to == 0 || widths[i] <= columns[i].shrink_to) continue;
            if (!widest || widths[i] > widths[*widest]) widest = i;
        }
        if (!widest) return;
        const auto excess = total(widths) - limit;
        const auto room = widths[*widest] - columns[*widest].shrink_to;
        widths[*widest] -= std::min(excess, room);
    }
}

Widths widths_within(const Widths& natural, const std::vector<Column>& columns, std::size_t limit) {
    Widths whole = natural;
    for (;;) {
        Widths widths = whole;
        shrink(widths, columns, limit);
        if (total(widths) <= limit) return widths;

        std::optional<std::size_t> next;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (columns[i].drop_order == 0 || whole[i] == 0) continue;
            if (!next || columns[i].drop_order < columns[*next].drop_order) next = i;
        }
        if (!next) return widths;
        whole[*next] = 0;
    }
}

/// One line; no spaces after its last cell.
std::string line_of(const std::vector<Cell>& cells, const Widths& widths,
                    const std::vector<Column>& columns, const Terminal& terminal) {
    std::string line;
    std::size_t owed = 0;  // spaces that are due before the next cell
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (widths[i] == 0) continue;
        const auto text =
            columns[i].keep_end ? fit_end(cells[i].text, widths[i]) : fit(cells[i].text, widths[i]);
        const auto padding = widths[i] - std::min(widths[i], display_width(text));
        const bool right = columns[i].align == Align::right;
        line.append(owed + (right ? padding : 0), ' ');
        line += toned(text, cells[i].tone, terminal);
        owed = gap + (right ? 0 : padding);
    }
    return line + "\n";
}

/// Beside its name a value has room for itself, or for enough words in a line to be read.
bool has_room_beside(std::string_view value, std::size_t indent, const Terminal& terminal) {
    constexpr std::size_t readable = 40;
    if (terminal.width == 0 || indent + display_width(value) <= terminal.width) return true;
    return indent + readable <= terminal.width;
}

}  // namespace

std::string toned(std::string_view text, Tone tone, const Terminal& terminal) {
    const auto escape = escape_of(tone);
    if (!terminal.colour || escape.empty() || text.empty()) return std::string(text);
    return std::string(escape) + std::string(text) + "\x1b[0m";
}

void Table::add(std::vector<Cell> row) {
    CHECK(row.size() == columns_.size());
    for (auto& cell : row) cell.text = cell.text.empty() ? "-" : one_line(cell.text);
    rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::natural_widths() const {
    Widths widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t width = std::max(columns_[i].least, display_width(columns_[i].title));
        for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
        widths.push_back(width);
    }
    return widths;
}

Table::Layout Table::layout_on(const Terminal& terminal) const {
    auto natural = natural_widths();
    if (terminal.width == 0) return {{}, std::move(natural)};
    auto widths = widths_within(natural, columns_, terminal.width);
    if (total(widths) <= terminal.width) return {{}, std::move(widths)};
    std::optional<std::size_t> widest;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].shrink_to > 0 || columns_[i].drop_order > 0) continue;
        if (!widest || natural[i] > natural[*widest]) widest = i;
    }
    if (!widest || columns_.size() == 1) return {{}, std::move(widths)};
    Widths above(columns_.size(), 0);
    above[*widest] = std::exchange(natural[*widest], 0);
    return {std::move(above),
            widths_within(natural, columns_, terminal.width - std::min(gap, terminal.width))};
}

std::string Table::row_of(const std::vector<Cell>& cells, const Layout& layout,
                          const Terminal& terminal) const {
    auto line = line_of(cells, layout.widths, columns_, terminal);
    if (layout.above.empty()) return line;
    return line_of(cells, layout.above, columns_, terminal) + std::string(gap, ' ') + line;
}

bool Table::fits(const Terminal& terminal) const {
    return terminal.width == 0 || total(natural_widths()) <= terminal.width;
}

bool Table::fits_on_lines(const Terminal& terminal) const {
    const auto layout = layout_on(terminal);
    return layout.above.empty() && (terminal.width == 0 || total(layout.widths) <= terminal.width);
}

bool Table::shows(std::size_t column, const Terminal& terminal) const {
    const auto layout = layout_on(terminal);
    return layout.widths[column] > 0 || (!layout.above.empty() && layout.above[column] > 0);
}

std::string Table::render(const Terminal& terminal) const {
    std::vector<Cell> titles;
    for (const auto& column : columns_) titles.push_back({column.title, Tone::heading});
    return row_of(titles, layout_on(terminal), terminal) + render_rows(terminal);
}

std::string Table::render_rows(const Terminal& terminal) const {
    const auto layout = layout_on(terminal);
    std::string text;
    for (const auto& row : rows_) text += row_of(row, layout, terminal);
    return text;
}

std::string render_facts(const std::vector<Fact>& facts, const Terminal& terminal) {
    constexpr std::size_t below = gap;  // the indent of a value that stands under its name
    std::size_t width = 0;
    for (const auto& fact : facts) {
        if (!fact.value.empty()) width = std::max(width, display_width(fact.name));
    }
    std::string text;
    for (const auto& fact : facts) {
        if (fact.value.empty()) continue;
        const auto value = one_line(fact.value);
        const auto indent = has_room_beside(value, width + gap, terminal) ? width + gap : below;
        text += toned(fact.name, Tone::faint, terminal);
        if (indent == below) {
            text += "\n" + std::string(below, ' ');
        } else {
            text.append(indent - display_width(fact.name), ' ');
        }
        const auto lines =
            wrap(value, {.width = terminal.width, .indent = indent, .before = indent});
        text += toned(lines, fact.tone, terminal) + "\n";
    }
    return text;
}

}  // namespace knell::cli
