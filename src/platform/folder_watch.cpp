#include "platform/folder_watch.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <sys/inotify.h>
#include <unistd.h>

namespace knell {

namespace {

// Not IN_MODIFY: half of a file is no use to anybody, and its writer closes it.
constexpr std::uint32_t changes = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                  IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

}  // namespace

FolderWatch::FolderWatch() : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

void FolderWatch::watch(const std::string& folder, std::vector<std::string> names) {
    if (fd_.get() < 0) return;
    const int number = inotify_add_watch(fd_.get(), folder.c_str(), changes | IN_ONLYDIR);
    if (number < 0) return;
    std::erase_if(watched_, [&](const Watched& other) { return other.number == number; });
    watched_.push_back({number, std::move(names)});
}

bool FolderWatch::take_change() {
    bool changed = false;
    alignas(inotify_event) std::array<char, 4096> buffer;
    for (;;) {
        const auto got = fd_.get() < 0 ? -1 : read(fd_.get(), buffer.data(), buffer.size());
        if (got <= 0) return changed;
        for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
            inotify_event event{};
            std::memcpy(&event, buffer.data() + at, sizeof event);
            const char* name = event.len > 0 ? buffer.data() + at + sizeof event : "";
            at += sizeof event + event.len;
            const auto watched = std::ranges::find(watched_, event.wd, &Watched::number);
            if ((event.mask & IN_Q_OVERFLOW) != 0) changed = true;
            if (watched == watched_.end()) continue;
            if ((event.mask & IN_IGNORED) != 0) {
                watched_.erase(watched);
                changed = true;
                continue;
            }
            changed = changed || watched->names.empty() ||
                      std::ranges::find(watched->names, name) != watched->names.end();
        }
    }
}

}  // namespace knell
