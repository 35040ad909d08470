#include "lab.hpp"

namespace knell::bench {

void measure_disk(Lab& lab) {
    const auto home = lab.new_home();
    SyncProbe probe(home->path());
    std::vector<double> p50;
    std::vector<double> p99;
    probe.times(50);
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto found = percentiles_of(probe.times(lab.scaled(2'000)));
        p50.push_back(found.p50);
        p99.push_back(found.p99);
    }
    lab.add({.name = "disk",
             .what = "write 4 KiB in place and fdatasync: p50",
             .unit = "us",
             .figure = spread_of(p50),
             .also = {{"p99_us", spread_of(p99).median}}});
}

}  // namespace knell::bench
