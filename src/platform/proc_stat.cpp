#include "platform/proc_stat.hpp"

#include <charconv>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "platform/clock.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

/// Takes the fields from left to right.
class Fields {
  public:
    explicit Fields(std::string_view text) : rest_(text) {}

    std::string_view next() {
        const auto start = rest_.find_first_not_of(' ');
        if (start == std::string_view::npos) return {};
        rest_.remove_prefix(start);
        const auto word = rest_.substr(0, rest_.find(' '));
        rest_.remove_prefix(word.size());
        return word;
    }

    std::uint64_t number() { return number_in<std::uint64_t>(next()); }

  private:
    std::string_view rest_;
};

/// The kernel's PF_FORKNOEXEC.
constexpr std::uint32_t forked_without_exec = 0x40;

template <typename Number>
bool parse_number(std::string_view word, Number& number) {
    const auto* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    return error == std::errc{} && stop == end && !word.empty();
}

/// As another time namespace would see it.
std::optional<ProcStat> without_shift(std::optional<ProcStat> found) {
    if (found && time_shift().boot.count() != 0) {
        // As the kernel makes ticks of nanoseconds.
        const auto a_tick =
            std::chrono::nanoseconds{std::chrono::seconds{1}} / sysconf(_SC_CLK_TCK);
        found->start_ticks -= static_cast<std::uint64_t>(time_shift().boot / a_tick);
    }
    return found;
}

}  // namespace

std::optional<ProcStat> parse_proc_stat(std::string_view stat) {
    const auto name_end = stat.rfind(')');
    if (name_end == std::string_view::npos) return std::nullopt;
    Fields fields(stat.substr(name_end + 1));
    ProcStat found;
    const auto state = fields.next();  // field 3
    if (state.size() != 1) return std::nullopt;
    found.state = state.front();
    if (!parse_number(fields.next(), found.parent)) return std::nullopt;   // field 4
    if (!parse_number(fields.next(), found.group)) return std::nullopt;    // field 5
    if (!parse_number(fields.next(), found.session)) return std::nullopt;  // field 6
    parse_number(fields.next(), found.terminal);                           // field 7
    parse_number(fields.next(), found.foreground_group);                   // field 8
    std::uint32_t flags = 0;
    if (!parse_number(fields.next(), flags)) return std::nullopt;  // field 9
    found.is_forked_copy = (flags & forked_without_exec) != 0;
    for (int field = 10; field < 14; ++field) fields.next();
    found.cpu_ticks = fields.number() + fields.number();         // fields 14 and 15
    found.waited_cpu_ticks = fields.number() + fields.number();  // fields 16 and 17
    for (int field = 18; field < 20; ++field) fields.next();
    parse_number(fields.next(), found.threads);  // field 20
    fields.next();
    if (!parse_number(fields.next(), found.start_ticks)) return std::nullopt;  // field 22
    for (int field = 23; field < 52; ++field) fields.next();
    auto last = fields.next();  // field 52, at the end of the line
    if (!last.empty() && last.back() == '\n') last.remove_suffix(1);
    parse_number(last, found.exit_status);
    return found;
}

std::optional<ProcStat> read_proc_stat(pid_t pid) {
    const auto stat = read_small_file(fmt::format("/proc/{}/stat", pid));
    return stat ? without_shift(parse_proc_stat(*stat)) : std::nullopt;
}

std::optional<ProcStat> read_proc_stat_in(int folder) {
    const auto stat = read_small_file_in(folder, "stat");
    return stat ? without_shift(parse_proc_stat(*stat)) : std::nullopt;
}

}  // namespace knell
