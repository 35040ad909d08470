#include "testing/faulty_disk.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include <sqlite3.h>

namespace knell::testing {

namespace {

constexpr std::size_t sector_bytes = 512;

/// A change that a power cut may undo.
struct Unsynced {
    std::size_t offset;
    std::string bytes;
    bool truncation;  // to `offset`
};

struct File {
    std::string now;      // what a reader sees
    std::string durable;  // what the last sync left
    std::vector<Unsynced> unsynced;
    std::vector<std::unique_ptr<char[]>> shared;  // the wal-index: memory, gone with the power
    int lock_holders = 0;
};

void overwrite(std::string& content, std::size_t offset, std::string_view bytes) {
    if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
    std::memcpy(content.data() + offset, bytes.data(), bytes.size());
}

void redo(std::string& content, const Unsynced& change, std::mt19937_64& random) {
    switch (random() % 3) {
        case 0:
            return;  // lost
        case 1:      // kept
            if (change.truncation) {
                content.resize(change.offset);
            } else {
                overwrite(content, change.offset, change.bytes);
            }
            return;
        default: {  // torn: some sectors made it
            if (change.truncation) return;
            for (std::size_t at = 0; at < change.bytes.size(); at += sector_bytes) {
                if (random() % 2 == 0) continue;
                overwrite(content, change.offset + at,
                          std::string_view(change.bytes).substr(at, sector_bytes));
            }
        }
    }
}

}  // namespace

struct FaultyDisk::Impl {
    std::string name;
    sqlite3_vfs vfs{};
    std::map<std::string, File> files;
    std::uint64_t operations = 0;
    std::uint64_t strike_from = UINT64_MAX;
    std::uint64_t strike_until = UINT64_MAX;
    Fault fault = Fault::io_error;
    bool struck = false;
    bool powerless = false;

    /// Counts a change; gives the error it must fail with, or SQLITE_OK.
    int change(int error) {
        ++operations;
        if (powerless) return error;
        if (operations < strike_from || operations >= strike_until) return SQLITE_OK;
        struck = true;
        if (fault == Fault::power_cut) powerless = true;
        return fault == Fault::full ? SQLITE_FULL : error;
    }
};

namespace {

/// SQLite allocates this and calls the methods below; `disk` and `file` outlive it.
struct OpenFile {
    sqlite3_file base;
    FaultyDisk::Impl* disk;
    File* file;
    bool holds_lock;
};

OpenFile& of(sqlite3_file* file) {
    return *reinterpret_cast<OpenFile*>(file);
}

void hold_lock(OpenFile& opened, bool holds) {
    if (opened.holds_lock != holds) opened.file->lock_holders += holds ? 1 : -1;
    opened.holds_lock = holds;
}

int close_file(sqlite3_file* handle) {
    hold_lock(of(handle), false);
    return SQLITE_OK;
}

int read_file(sqlite3_file* handle, void* into, int amount, sqlite3_int64 offset) {
    if (of(handle).disk->powerless) return SQLITE_IOERR_READ;
    const auto& content = of(handle).file->now;
    const auto wanted = static_cast<std::size_t>(amount);
    const auto start = std::min(static_cast<std::size_t>(offset), content.size());
    const auto got = std::min(wanted, content.size() - start);
    std::memcpy(into, content.data() + start, got);
    if (got == wanted) return SQLITE_OK;
    std::memset(static_cast<char*>(into) + got, 0, wanted - got);
    return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* handle, const void* from, int amount, sqlite3_int64 offset) {
    if (const int error = of(handle).disk->change(SQLITE_IOERR_WRITE)) return error;
    auto& file = *of(handle).file;
    std::string bytes(static_cast<const char*>(from), static_cast<std::size_t>(amount));
    overwrite(file.now, static_cast<std::size_t>(offset), bytes);
    file.unsynced.push_back({static_cast<std::size_t>(offset), std::move(bytes), false});
    return SQLITE_OK;
}

int truncate_file(sqlite3_file* handle, sqlite3_int64 size) {
    if (const int error = of(handle).disk->change(SQLITE_IOERR_TRUNCATE)) return error;
    auto& file = *of(handle).file;
    file.now.resize(static_cast<std::size_t>(size));
    file.unsynced.push_back({static_cast<std::size_t>(size), {}, true});
    return SQLITE_OK;
}

int sync_file(sqlite3_file* handle, int) {
    if (const int error = of(handle).disk->change(SQLITE_IOERR_FSYNC)) return error;
    auto& file = *of(handle).file;
    file.durable = file.now;
    file.unsynced.clear();
    return SQLITE_OK;
}

int file_size(sqlite3_file* handle, sqlite3_int64* size) {
    *size = static_cast<sqlite3_int64>(of(handle).file->now.size());
    return SQLITE_OK;
}

// Tests use a disk from one thread, so locks never have to wait.  Only "am I the last connection?",
// which SQLite asks by locking exclusively when it closes, needs a true answer.
int lock_file(sqlite3_file* handle, int level) {
    auto& opened = of(handle);
    const int others = opened.file->lock_holders - (opened.holds_lock ? 1 : 0);
    if (level == SQLITE_LOCK_EXCLUSIVE && others > 0) return SQLITE_BUSY;
    hold_lock(opened, true);
    return SQLITE_OK;
}
int unlock_file(sqlite3_file* handle, int level) {
    if (level == SQLITE_LOCK_NONE) hold_lock(of(handle), false);
    return SQLITE_OK;
}
int check_reserved(sqlite3_file*, int* reserved) {
    *reserved = 0;
    return SQLITE_OK;
}
int control(sqlite3_file*, int, void*) {
    return SQLITE_NOTFOUND;
}
int sector_size(sqlite3_file*) {
    return sector_bytes;
}
int characteristics(sqlite3_file*) {
    return 0;
}

int map_shared(sqlite3_file* handle, int region, int size, int extend, void volatile** memory) {
    auto& shared = of(handle).file->shared;
    const auto wanted = static_cast<std::size_t>(region) + 1;
    *memory = nullptr;
    if (shared.size() < wanted && extend == 0) return SQLITE_OK;
    while (shared.size() < wanted) {
        shared.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
    }
    *memory = shared[wanted - 1].get();
    return SQLITE_OK;
}
int lock_shared(sqlite3_file*, int, int, int) {
    return SQLITE_OK;
}
void barrier(sqlite3_file*) {}
int unmap_shared(sqlite3_file* handle, int remove) {
    if (remove != 0) of(handle).file->shared.clear();
    return SQLITE_OK;
}

constexpr sqlite3_io_methods methods{
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_shared,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

FaultyDisk::Impl& disk_of(sqlite3_vfs* vfs) {
    return *static_cast<FaultyDisk::Impl*>(vfs->pAppData);
}

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* handle, int flags, int* out) {
    auto& disk = disk_of(vfs);
    auto& opened = of(handle);
    opened.base.pMethods = nullptr;
    if (disk.powerless) return SQLITE_CANTOPEN;
    const std::string path = name == nullptr ? "temporary" : name;
    if (!disk.files.contains(path) && (flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    opened.disk = &disk;
    opened.file = &disk.files[path];
    opened.holds_lock = false;
    opened.base.pMethods = &methods;
    if (out != nullptr) *out = flags;
    return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int) {
    auto& disk = disk_of(vfs);
    if (const int error = disk.change(SQLITE_IOERR_DELETE)) return error;
    // The node stays: a handle may still point at it.  A file without content is as good as gone.
    if (const auto found = disk.files.find(name); found != disk.files.end()) {
        const auto holders = found->second.lock_holders;
        found->second = File{};
        found->second.lock_holders = holders;
    }
    return SQLITE_OK;
}

int access_file(sqlite3_vfs* vfs, const char* name, int, int* result) {
    const auto& files = disk_of(vfs).files;
    const auto found = files.find(name);
    *result = found != files.end() && !found->second.now.empty() ? 1 : 0;
    return SQLITE_OK;
}

int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
}

}  // namespace

FaultyDisk::FaultyDisk() : impl_(std::make_unique<Impl>()) {
    static std::atomic<int> count{0};
    impl_->name = "faulty-" + std::to_string(++count);
    impl_->vfs = *sqlite3_vfs_find(nullptr);  // randomness and time stay the default's
    impl_->vfs.szOsFile = sizeof(OpenFile);
    impl_->vfs.pNext = nullptr;
    impl_->vfs.zName = impl_->name.c_str();
    impl_->vfs.pAppData = impl_.get();
    impl_->vfs.xOpen = open_file;
    impl_->vfs.xDelete = delete_file;
    impl_->vfs.xAccess = access_file;
    impl_->vfs.xFullPathname = full_path;
    sqlite3_vfs_register(&impl_->vfs, /*makeDflt=*/0);
}

FaultyDisk::~FaultyDisk() {
    sqlite3_vfs_unregister(&impl_->vfs);
}

const std::string& FaultyDisk::vfs() const {
    return impl_->name;
}
std::uint64_t FaultyDisk::operations() const {
    return impl_->operations;
}
bool FaultyDisk::fault_struck() const {
    return impl_->struck;
}

void FaultyDisk::fail_at(std::uint64_t operation, Fault fault, std::uint64_t times) {
    impl_->strike_from = impl_->operations + operation;
    impl_->strike_until = impl_->strike_from + times;
    impl_->fault = fault;
    impl_->struck = false;
}

void FaultyDisk::heal() {
    impl_->strike_from = impl_->strike_until = UINT64_MAX;
}

void FaultyDisk::restore_power(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (auto& [path, file] : impl_->files) {
        for (const auto& change : file.unsynced) redo(file.durable, change, random);
        file.now = file.durable;
        file.unsynced.clear();
        file.shared.clear();
    }
    impl_->powerless = false;
    heal();
}

void FaultyDisk::restore_all() {
    for (auto& [path, file] : impl_->files) file.shared.clear();
    impl_->powerless = false;
    heal();
}

void FaultyDisk::seed_sqlite(std::uint32_t seed) {
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, static_cast<int>(seed | 1U), nullptr);
}

}  // namespace knell::testing
