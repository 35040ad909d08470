#include "platform/proc_stat.hpp"

#include <charconv>

#include <fmt/format.h>

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
    for (int field = 7; field < 9; ++field) fields.next();
    std::uint32_t flags = 0;
    if (!parse_number(fields.next(), flags)) return std::nullopt;  // field 9
    found.is_forked_copy = (flags & forked_without_exec) != 0;
    for (int field = 10; field < 22; ++field) fields.next();
    if (!parse_number(fields.next(), found.start_ticks)) return std::nullopt;  // field 22
    for (int field = 23; field < 52; ++field) fields.next();
    auto last = fields.next();  // field 52, at the end of the line
    if (!last.empty() && last.back() == '\n') last.remove_suffix(1);
    parse_number(last, found.exit_status);
    return found;
}

std::optional<ProcStat> read_proc_stat(pid_t pid) {
    const auto stat = read_small_file(fmt::format("/proc/{}/stat", pid));
    return stat ? parse_proc_stat(*stat) : std::nullopt;
}

}  // namespace knell
