#include "platform/kernel_thread.hpp"

#include <cstdint>

#include "base/text.hpp"

namespace knell {

namespace {

/// The kernel's PF_KTHREAD.
constexpr std::uint32_t kernel_thread = 0x200000;

}  // namespace

bool is_kernel_thread(std::string_view stat) {
    const auto name_end = stat.rfind(") ");  // the name may hold anything
    if (name_end == std::string_view::npos) return false;
    stat.remove_prefix(name_end + 2);
    for (int field = 3; field < 9; ++field) take_field(stat, ' ');
    return (number_in<std::uint32_t>(stat) & kernel_thread) != 0;
}

}  // namespace knell
