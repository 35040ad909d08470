#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace knell::testing {

/// A disk in memory, as a SQLite file layer, that fails or loses power at a chosen operation.
///
/// It remembers which writes were synced.  When the power is cut, a write that was not may be kept,
/// lost or torn in the middle of a sector, in any combination: what a real disk may do.
/// One thread; stores that use it are closed before it dies.
class FaultyDisk {
  public:
    enum class Fault : std::uint8_t { io_error, full, power_cut };

    FaultyDisk();
    ~FaultyDisk();
    FaultyDisk(const FaultyDisk&) = delete;
    FaultyDisk& operator=(const FaultyDisk&) = delete;

    const std::string& vfs() const;

    /// The `operation`-th change from now (1 is the next) meets the fault: a write, truncation,
    /// sync or deletion.  An error strikes `times` times in a row; a power cut lasts until
    /// `restore_power`.
    void fail_at(std::uint64_t operation, Fault fault, std::uint64_t times = 1);
    void heal();
    bool fault_struck() const;

    /// After a cut, once every store on the disk is closed.  `seed` decides the fate of each write
    /// that was not synced.
    void restore_power(std::uint64_t seed);
    /// After a cut that stood for a killed process: the host lived on, so every write is there.
    void restore_all();

    /// From now on SQLite's own random numbers, in the whole process, follow from `seed`.
    static void seed_sqlite(std::uint32_t seed);

    /// Changes so far.
    std::uint64_t operations() const;

    struct Impl;

  private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace knell::testing
