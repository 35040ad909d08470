#include "disk.hpp"

#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "must.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t block_bytes = 4096;
constexpr std::size_t blocks = 4096;
constexpr long ramfs_magic = 0x858458f6;

}  // namespace

SyncProbe::SyncProbe(const std::string& directory)
    : path_(directory + "/sync-probe"), block_(block_bytes, 'k') {
    file_ = Fd{open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    must(static_cast<bool>(file_), "cannot make " + path_);
    // Written, not only allocated: the first write to a reserved block changes metadata.
    for (std::size_t i = 0; i < blocks; ++i) {
        must(write(file_.get(), block_.data(), block_bytes) == ssize_t{block_bytes}, path_);
    }
    must(fsync(file_.get()) == 0, path_);
}

SyncProbe::~SyncProbe() {
    unlink(path_.c_str());
}

double SyncProbe::once() {
    const auto offset = static_cast<off_t>(next_++ % blocks * block_bytes);
    block_[0] = static_cast<char>(next_);
    const auto start = seconds_now();
    must(pwrite(file_.get(), block_.data(), block_bytes, offset) == ssize_t{block_bytes}, path_);
    must(fdatasync(file_.get()) == 0, path_);
    return (seconds_now() - start) * 1e6;
}

std::vector<double> SyncProbe::times(std::size_t count) {
    std::vector<double> samples;
    samples.reserve(count);
    while (samples.size() < count) samples.push_back(once());
    return samples;
}

bool is_in_memory(const std::string& directory) {
    struct statfs facts{};
    if (statfs(directory.c_str(), &facts) != 0) return false;
    return facts.f_type == TMPFS_MAGIC || facts.f_type == ramfs_magic;
}

TemporaryDirectory::TemporaryDirectory(const std::string& parent)
    : path_(parent + "/knell-bench-XXXXXX") {
    must(mkdtemp(path_.data()) != nullptr, "cannot make a directory in " + parent);
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace knell::bench
