#include "testing/refused_calls.hpp"

#include <cstddef>
#include <thread>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "base/check.hpp"

namespace knell::testing {

namespace {

/// A filter is its thread's own, and there is no way back: hence a thread for each.
void refuse_on_this_thread(const std::vector<long>& calls, int error) {
    std::vector<sock_filter> program;
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    for (const auto call : calls) {
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<__u32>(call), 0, 1));
        program.push_back(
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<__u32>(error) & 0xFFFFU)));
    }
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog filter{.len = static_cast<unsigned short>(program.size()),
                            .filter = program.data()};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

}  // namespace

void with_refused_calls(const std::vector<long>& calls, int error,
                        const std::function<void()>& work) {
    std::jthread([&] {
        refuse_on_this_thread(calls, error);
        work();
    }).join();
}

}  // namespace knell::testing
