#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "contender.hpp"
#include "figures.hpp"
#include "peer_process.hpp"
#include "pictures.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t ends_many = 10'000;
constexpr std::size_t ends_some = 1'000;
constexpr std::size_t others_full = 100'000;
constexpr double times_earlier_min = 100;

struct Entrant {
    std::string_view slug;
    std::string_view name;
    std::string_view needs;  // a program, or ""
    std::unique_ptr<Contender> (*start)(const Lab& lab, std::size_t others);
    bool only_many = false;  // says nothing new about fewer ends
    std::size_t singles = 20;
};

constexpr std::array entrants{
    Entrant{.slug = "pidfd",
            .name = "knell, pidfd",
            .needs = "",
            .start = knell_by_pidfd,
            .singles = 200},
    Entrant{.slug = "lease", .name = "knell, lease", .needs = "", .start = knell_by_lease},
    Entrant{.slug = "etcd", .name = "etcd", .needs = "etcd", .start = etcd_with_watch},
    Entrant{.slug = "etcd_one",
            .name = "etcd, one lease",
            .needs = "etcd",
            .start = etcd_with_one_lease,
            .only_many = true},
    Entrant{.slug = "redis",
            .name = "Redis",
            .needs = "redis-server",
            .start = redis_with_notifications},
    Entrant{.slug = "reaper", .name = "reaper", .needs = "", .start = sqlite_reaper},
};

/// So many ends beside so many others, for one entrant.
struct Cell {
    std::vector<double> p50;      // of each run
    std::vector<double> seconds;  // of all runs
    std::size_t unheard = 0;

    std::string in_words(double patience) const {
        const auto found = percentiles_of(seconds);
        const auto words = [&](double value) {
            const bool at_least = unheard > 0 && value >= patience;
            return (at_least ? "> " : "") + duration(value);
        };
        return fmt::format("{} / {} / {}", words(found.p50), words(found.p99), words(found.max));
    }
};

/// For the plot, which has no place for an end that was not heard.
std::vector<double> with_unheard_never(const Cell& cell, double patience) {
    auto seconds = cell.seconds;
    if (cell.unheard == 0) return seconds;
    std::ranges::replace_if(
        seconds, [&](double value) { return value >= patience; },
        std::numeric_limits<double>::infinity());
    return seconds;
}

using Line = std::array<std::optional<Cell>, entrants.size()>;

/// All counts of ends for one entrant beside `others`, smallest first.
class Race {
  public:
    Race(Lab& lab, const Entrant& entrant, std::size_t others)
        : lab_(lab), entrant_(entrant), others_(others) {}

    Cell run(std::size_t ends) {
        lab_.say(fmt::format("{}: {} among {}", entrant_.name, grouped(ends), grouped(others_)));
        Cell cell;
        const std::size_t runs = lab_.options().quick || ends == 1 ? 1 : 3;
        for (std::size_t run = 0; run < runs && cell.unheard == 0; ++run) {
            if (!contender_) start();
            const auto heard =
                ends == 1 ? contender_->lose_singly(lab_.options().quick ? 5 : entrant_.singles)
                          : contender_->lose_together(ends);
            cell.p50.push_back(percentiles_of(heard.seconds).p50);
            cell.seconds.insert(cell.seconds.end(), heard.seconds.begin(), heard.seconds.end());
            cell.unheard += heard.unheard;
            // What was not heard would come up in the next run.
            if (heard.unheard > 0) contender_.reset();
        }
        return cell;
    }

  private:
    void start() {
        const auto took = seconds_of([&] { contender_ = entrant_.start(lab_, others_); });
        lab_.say(fmt::format("ready after {:.1f} s", took));
        if (entrant_.slug == "pidfd") contender_->lose_singly(20);  // warm-up
    }

    Lab& lab_;
    const Entrant& entrant_;
    const std::size_t others_;
    std::unique_ptr<Contender> contender_;
};

Row row_of(const Entrant& entrant, const Cell& cell, std::size_t ends, std::size_t others,
           const Cell& ours) {
    const auto found = percentiles_of(cell.seconds);
    const auto base = percentiles_of(ours.seconds).p50;
    return {.name = fmt::format("gone.{}.{}.{}", entrant.slug, ends, others),
            .what = fmt::format("{} ends among {} others, {}: owner gone to end heard, p50",
                                grouped(ends), grouped(others), entrant.name),
            .unit = "s",
            .figure = spread_of(cell.p50),
            .baseline = "knell, pidfd",
            .baseline_figure = spread_of(ours.p50),
            .ratio = spread_of({found.p50 / base}),
            .also = {{"p99_s", found.p99},
                     {"max_s", found.max},
                     {"unheard", static_cast<double>(cell.unheard)}},
            .tabled = true};
}

/// The target: how many times earlier than this peer knell has heard half of the ends.
Row compared_with(const Entrant& peer, const Cell& cell, const Cell& ours, const std::string& where,
                  bool is_target) {
    const auto base = percentiles_of(cell.seconds).p50;
    const auto times = base / percentiles_of(ours.seconds).p50;
    Row row{
        .name = fmt::format("gone.earlier.{}", peer.slug),
        .what = fmt::format("{}: times earlier that half of the ends are heard from knell "
                            "(pidfd) than from {}",
                            where, peer.name),
        .unit = "x",
        .figure = spread_of({times}),
        .note = cell.unheard == 0
                    ? ""
                    : fmt::format("at least: {} of its ends were not heard in time", cell.unheard)};
    if (is_target) {
        row.target = ">= 100x";
        row.met = times >= times_earlier_min;
    }
    return row;
}

std::vector<std::string> header() {
    std::vector<std::string> words{"ends", "among"};
    for (const auto& entrant : entrants) words.emplace_back(entrant.name);
    return words;
}

std::vector<std::string> in_words(const Line& line, std::size_t ends, std::size_t others,
                                  double patience) {
    std::vector<std::string> words{grouped(ends), grouped(others)};
    for (const auto& cell : line) words.push_back(cell ? cell->in_words(patience) : "");
    return words;
}

void report_headline(Lab& lab, const Line& line, std::size_t ends, std::size_t others) {
    const auto where = fmt::format("{} ends among {}", grouped(ends), grouped(others));
    for (std::size_t i = 0; i < entrants.size(); ++i) {
        if (!line[i]) continue;
        lab.keep(kept::gone + std::string(entrants[i].name),
                 with_unheard_never(*line[i], patience_s(lab)));
        if (i == 0) continue;
        const auto slug = entrants[i].slug;
        lab.add(compared_with(entrants[i], *line[i], *line[0], where,
                              /*is_target=*/slug == "etcd" || slug == "redis"));
    }
}

}  // namespace

void measure_gone(Lab& lab) {
    const std::array counts{std::size_t{1}, lab.scaled(ends_some), lab.scaled(ends_many)};
    Table table{.caption = "p50 / p99 / max", .header = header()};
    for (const auto others : {std::size_t{0}, lab.scaled(others_full)}) {
        std::array<Line, counts.size()> lines;
        for (std::size_t i = 0; i < entrants.size(); ++i) {
            const auto& entrant = entrants[i];
            if (!entrant.needs.empty() && !is_installed(std::string(entrant.needs))) continue;
            Race race(lab, entrant, others);
            for (std::size_t n = 0; n < counts.size(); ++n) {
                if (entrant.only_many && counts[n] != counts.back()) continue;
                lines[n][i] = race.run(counts[n]);
                lab.add(row_of(entrant, *lines[n][i], counts[n], others, *lines[n][0]));
            }
        }
        for (std::size_t n = 0; n < counts.size(); ++n) {
            table.lines.push_back(in_words(lines[n], counts[n], others, patience_s(lab)));
        }
        if (others > 0) report_headline(lab, lines.back(), counts.back(), others);
    }
    lab.add_table(std::move(table));
}

}  // namespace knell::bench
