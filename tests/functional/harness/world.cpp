#include "functional/harness/world.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/fd.hpp"

namespace knell::functional {

namespace {

/// A call, or only those with this in the low bits of one argument.
struct Refusal {
    long call;
    int error;
    int argument = -1;
    std::uint32_t mask = 0;
    std::uint32_t value = 0;
};

constexpr std::uint32_t ioctl_bits = (_IOC_TYPEMASK << _IOC_TYPESHIFT) | _IOC_NRMASK;
constexpr std::uint32_t get_info = (0xFFU << _IOC_TYPESHIFT) | 11U;  // whatever the size
constexpr std::uint32_t peer_pidfd = 77;                             // SO_PEERPIDFD

constexpr std::array<Refusal, 2> linux_6_1{{
    {SYS_ioctl, ENOTTY, 1, ioctl_bits, get_info},
    {SYS_getsockopt, ENOPROTOOPT, 2, ~0U, peer_pidfd},
}};
constexpr std::array<Refusal, 5> no_pidfd{{
    {SYS_pidfd_open, ENOSYS},
    {SYS_pidfd_send_signal, ENOSYS},
    {SYS_pidfd_getfd, ENOSYS},
    {SYS_ioctl, ENOTTY, 1, ioctl_bits, get_info},
    {SYS_getsockopt, ENOPROTOOPT, 2, ~0U, peer_pidfd},
}};
constexpr std::array<Refusal, 2> no_inotify{{
    {SYS_inotify_init1, EMFILE},
    {SYS_inotify_init, EMFILE},
}};

std::span<const Refusal> refusals_of(std::string_view name) {
    if (name == "linux-6.1") return linux_6_1;
    if (name == "no-pidfd") return no_pidfd;
    if (name == "no-inotify") return no_inotify;
    return {};
}

bool refuse(std::span<const Refusal> refusals) {
    if (refusals.empty()) return true;
    std::array<sock_filter, 64> program{};
    std::size_t size = 0;
    const auto add = [&](sock_filter step) { program.at(size++) = step; };
    const auto load = [&](std::size_t offset) {
        add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<__u32>(offset)));
    };
    for (const auto& refusal : refusals) {
        const bool any = refusal.argument < 0;
        load(offsetof(seccomp_data, nr));
        const auto call = static_cast<__u32>(refusal.call);
        add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, static_cast<__u8>(any ? 1 : 4)));
        if (!any) {
            const auto index = static_cast<std::size_t>(refusal.argument);
            load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t));
            add(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, refusal.mask));
            add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refusal.value, 0, 1));
        }
        const auto error = static_cast<__u32>(refusal.error);
        add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
    }
    add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog filter{.len = static_cast<unsigned short>(size), .filter = program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Linux 6.15 and later.
bool kernel_keeps_exit_status() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    const Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, child, 0U))};
    ::waitpid(child, nullptr, 0);
    constexpr std::uint64_t with_exit = 1U << 3U;
    std::array<std::uint64_t, 8> info{with_exit};
    const auto request = _IOC(_IOC_READ | _IOC_WRITE, 0xFF, 11, sizeof info);
    return ::ioctl(pidfd.get(), request, info.data()) == 0 && (info[0] & with_exit) != 0;
}

}  // namespace

bool World::enter() const {
    return refuse(refusals_of(name));
}

std::map<std::string, std::string> World::environment() const {
    if (name == "c-locale") return {{"LC_ALL", "C"}};
    return {};
}

bool World::keeps_exit_status() const {
    static const bool kept = kernel_keeps_exit_status();
    return kept && name != "linux-6.1" && name != "no-pidfd";
}

const World& world() {
    static const World chosen = [] {
        const char* name = std::getenv("KNELL_TEST_WORLD");
        World world{name == nullptr ? "" : name};
        const bool known =
            world.name.empty() || world.name == "c-locale" || !refusals_of(world.name).empty();
        if (!known) throw std::runtime_error("there is no world " + world.name);
        return world;
    }();
    return chosen;
}

}  // namespace knell::functional
