#include "markdown.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "chapters.hpp"
#include "figures.hpp"

namespace knell::bench {

namespace {

constexpr auto preface = R"(# Benchmarks

Written by `./scripts/bench`, which builds the release, installs and starts the peers on loopback, measures everything
in one run and writes this page, its plots and `build/bench.json`; `--only NAME` runs one benchmark, `--quick` a tenth of
all of them, and neither touches this page.

Every figure stands beside its baseline from the same run where there is one; what depends on the mood of the disk is
run in turns with its baseline, after a warm-up. A figure is the median of the runs, with the lowest and the highest in
brackets. Whoever acknowledges has
called `fdatasync` first, on both sides and on the same disk. Targets that are missed and rows that lose are shown too.
)";

std::string cell(std::string text) {
    for (auto at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
        text.replace(at, 1, "\\|");
    }
    return text;
}

void append_line(std::string& out, const std::vector<std::string>& cells) {
    out += '|';
    for (const auto& text : cells) out += fmt::format(" {} |", cell(text));
    out += '\n';
}

void append_table(std::string& out, const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& lines) {
    append_line(out, header);
    out += '|';
    for (std::size_t i = 0; i < header.size(); ++i) out += "---|";
    out += '\n';
    for (const auto& line : lines) append_line(out, line);
}

std::string also_of(const Row& row) {
    std::string also;
    for (const auto& [name, value] : row.also) {
        auto words = name;
        std::ranges::replace(words, '_', ' ');
        also += fmt::format("{}{} {}", also.empty() ? "" : ", ", words, number(value));
    }
    return also;
}

std::vector<std::string> cells_of(const Row& row) {
    const bool failed = row.figure.runs == 0;
    const bool compared = !row.baseline.empty();
    return {row.what,
            failed ? row.note : with_spread(row.figure, for_page(row.unit)),
            compared ? fmt::format("{}: {}", row.baseline,
                                   with_unit(row.baseline_figure.median, for_page(row.unit)))
                     : "",
            compared ? number(row.ratio.median) + "x" : "",
            row.target,
            row.met ? (*row.met ? "yes" : "**no**") : "",
            also_of(row)};
}

void append_rows(std::string& out, Chapter chapter, const Report& report) {
    std::vector<std::vector<std::string>> lines;
    std::string notes;
    for (const auto& row : report.rows()) {
        if (row.chapter != chapter || row.tabled) continue;
        lines.push_back(cells_of(row));
        if (!row.note.empty() && row.figure.runs > 0) {
            notes += fmt::format("- `{}`: {}\n", row.name, row.note);
        }
    }
    if (lines.empty()) return;
    out += '\n';
    append_table(out, {"what", "figure", "baseline", "ratio", "target", "met", "also"}, lines);
    if (!notes.empty()) out += '\n' + notes;
}

void append_chapter(std::string& out, Chapter chapter, const Report& report,
                    const std::vector<Picture>& pictures) {
    const auto is_in = [&](const auto& part) { return part.chapter == chapter; };
    if (std::ranges::none_of(report.rows(), is_in)) return;
    const auto [title, note] = words_of(chapter);
    out += fmt::format("\n## {}\n\n{}\n", title, note);
    for (const auto& table : report.tables()) {
        if (!is_in(table)) continue;
        out += fmt::format("\n{}\n\n", table.caption);
        append_table(out, table.header, table.lines);
    }
    append_rows(out, chapter, report);
    for (const auto& picture : pictures) {
        if (is_in(picture)) out += fmt::format("\n![{}](plots/{})\n", picture.alt, picture.file);
    }
}

std::string sync_of(const JsonObject& machine, std::string_view name) {
    const auto* found = wire::object_at(machine, name);
    if (found == nullptr) return "";
    const auto micros = [&](const char* field) {
        const auto* value = found->if_contains(field);
        return value != nullptr && value->is_number() ? value->to_number<double>() : 0;
    };
    return fmt::format("{} / {}, load {}", duration(micros("p50_us") * 1e-6),
                       duration(micros("p99_us") * 1e-6), wire::text_at(*found, "load_average"));
}

void append_machine(std::string& out, const JsonObject& machine) {
    const auto text = [&](const char* name) { return std::string(wire::text_at(machine, name)); };
    const auto gibibytes =
        static_cast<double>(wire::int_at(machine, "memory_bytes")) / (1024.0 * 1024 * 1024);
    out += '\n';
    append_table(out, {"run", ""},
                 {{"taken", text("at")},
                  {"knell", fmt::format("{}, commit `{}`", text("version"), text("commit"))},
                  {"machine", fmt::format("{} cores of {}, {:.0f} GiB",
                                          wire::int_at(machine, "cores"), text("cpu"), gibibytes)},
                  {"kernel", "Linux " + text("kernel")},
                  {"disk", text("disk")},
                  {"compiler", text("compiler")},
                  {"SQLite", text("sqlite")},
                  {"etcd", text("etcd")},
                  {"Redis", text("redis")},
                  {"mosquitto", text("mosquitto")},
                  {"`fdatasync` p50 / p99 before", sync_of(machine, "fdatasync_before")},
                  {"and after", sync_of(machine, "fdatasync_after")}});
    if (wire::bool_at(machine, "quick")) {
        out += "\n**A quick run**: a tenth of the size; it shows that things work, not how fast.\n";
    }
}

/// All targets, so that nobody has to look for what was missed.
void append_targets(std::string& out, const Report& report) {
    std::size_t met = 0;
    std::string missed;
    for (const auto& row : report.rows()) {
        if (!row.met) continue;
        if (*row.met) {
            ++met;
        } else {
            missed += fmt::format(
                "- `{}`, {}: {}, target {}\n", row.name, row.what,
                row.figure.runs == 0 ? row.note : with_spread(row.figure, for_page(row.unit)),
                row.target);
        }
    }
    out += fmt::format("\nTargets met: {}. {}\n", met, missed.empty() ? "None missed." : "Missed:");
    if (!missed.empty()) out += '\n' + missed;
}

}  // namespace

std::string to_markdown(const JsonObject& machine, const Report& report,
                        const std::vector<Picture>& pictures) {
    std::string out = preface;
    append_machine(out, machine);
    append_targets(out, report);
    for (const auto chapter : all_chapters) append_chapter(out, chapter, report, pictures);
    return out;
}

}  // namespace knell::bench
