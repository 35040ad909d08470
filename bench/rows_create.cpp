#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "lab.hpp"
#include "pictures.hpp"
#include "sample_store.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t creates = 200'000;
constexpr double direct_seconds_max = 5;  // a slow disk must not make it last for minutes
constexpr std::size_t batch_rows = 1'000;
/// Large batches meet large groups: as many calls as a batch has rows are under way.
constexpr std::size_t window_of_many = batch_rows / client_count;
constexpr double rate_min = 20'000;
constexpr double one_by_one_min = 6;
constexpr double batches_min = 2.0 / 3;

struct DaemonRun {
    double rate = 0;
    double cpu_micros = 0;
    Percentiles latency;
};

DaemonRun through_daemon(const Lab& lab, std::size_t calls, std::size_t window) {
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    LoadClient client(daemon.socket(), client_count);
    client.run(plain_creates(calls / 10));  // warm-up
    const auto cpu = daemon.cpu_seconds();
    auto load = plain_creates(calls);
    load.window = window;
    const auto result = client.run(load);
    return {result.rate(), (daemon.cpu_seconds() - cpu) * 1e6 / static_cast<double>(calls),
            percentiles_of(result.micros)};
}

/// Sessions a second when the same rows go through the C API, `per_transaction` of them at a time.
double directly(const Lab& lab, std::size_t calls, std::size_t per_transaction) {
    const auto home = lab.new_home();
    make_store(home->path(), plain_session());
    RawDatabase database(paths_in(home->path()).store_file, /*durable=*/true);
    RawStatement begin(database, "BEGIN IMMEDIATE");
    RawStatement commit(database, "COMMIT");
    SessionCopier copier(database, /*ended=*/false);
    const auto write = [&](std::size_t count) {
        const auto start = seconds_now();
        std::size_t written = 0;
        while (written < count && seconds_now() - start < direct_seconds_max) {
            begin.step();
            begin.reset();
            for (std::size_t i = 0; i < per_transaction; ++i) copier.insert();
            commit.step();
            commit.reset();
            written += per_transaction;
        }
        return static_cast<double>(written) / (seconds_now() - start);
    };
    write(calls / 10);  // warm-up
    return write(calls);
}

}  // namespace

void measure_create(Lab& lab) {
    std::vector<double> rate;
    std::vector<double> cpu;
    std::vector<double> p50;
    std::vector<double> p99;
    std::vector<double> one_by_one;
    std::vector<double> batches;
    std::vector<double> many;
    std::vector<double> many_cpu;
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        lab.say("knell");
        const auto daemon = through_daemon(lab, lab.scaled(creates), 1);
        rate.push_back(daemon.rate);
        cpu.push_back(daemon.cpu_micros);
        p50.push_back(daemon.latency.p50);
        p99.push_back(daemon.latency.p99);
        lab.say("knell, many calls under way");
        const auto crowded = through_daemon(lab, lab.scaled(creates), window_of_many);
        many.push_back(crowded.rate);
        many_cpu.push_back(crowded.cpu_micros);
        lab.say("one by one");
        one_by_one.push_back(directly(lab, lab.scaled(creates), 1));
        lab.say("batches");
        batches.push_back(directly(lab, lab.scaled(creates), batch_rows));
    }
    const auto figure = spread_of(rate);
    const auto times = spread_of(ratios(rate, one_by_one));
    const auto share = spread_of(ratios(many, batches));
    lab.add({.name = "create",
             .what = "durable session.create, 64 connections, one call each outstanding",
             .unit = "/s",
             .figure = figure,
             .baseline = "the same rows, one transaction each, SQLite C API",
             .baseline_figure = spread_of(one_by_one),
             .ratio = times,
             .target = ">= 20,000/s and >= 6x",
             .met = figure.median >= rate_min && times.median >= one_by_one_min,
             .also = {{"p50_us", spread_of(p50).median},
                      {"p99_us", spread_of(p99).median},
                      {"daemon_cpu_us_per_create", spread_of(cpu).median}}});
    lab.add({.name = "create.batches",
             .what = "the same with 15 calls outstanding on each connection",
             .unit = "/s",
             .figure = spread_of(many),
             .baseline = "the same rows, 1,000 a transaction, SQLite C API, no daemon",
             .baseline_figure = spread_of(batches),
             .ratio = share,
             .target = ">= 0.67x",
             .met = share.median >= batches_min,
             .also = {{"daemon_cpu_us_per_create", spread_of(many_cpu).median},
                      {"one_call_outstanding_x", spread_of(ratios(rate, batches)).median}}});
}

void measure_create_one(Lab& lab) {
    constexpr double syncs_max = 2;
    const auto home = lab.new_home();
    SyncProbe probe(home->path());
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    LoadClient client(daemon.socket(), 1);
    client.run(plain_creates(500));
    std::vector<double> p50;
    std::vector<double> p99;
    std::vector<double> sync_p50;
    std::vector<double> sync_p99;
    std::vector<double> loop_p50;
    std::vector<double> all_creates;
    std::vector<double> all_syncs;
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        std::vector<double> creates_taken;
        std::vector<double> syncs_taken;
        // Strictly in turns: the disk drifts within seconds, and a sync right after another finds
        // processor and disk awake, which no lone call does.
        for (std::size_t turn = 0; turn < lab.scaled(2'000); ++turn) {
            syncs_taken.push_back(probe.once());
            creates_taken.push_back(client.run(plain_creates(1)).micros.front());
        }
        for (const auto micros : creates_taken) all_creates.push_back(micros * 1e-6);
        for (const auto micros : syncs_taken) all_syncs.push_back(micros * 1e-6);
        const auto call = percentiles_of(creates_taken);
        const auto sync = percentiles_of(syncs_taken);
        p50.push_back(call.p50);
        p99.push_back(call.p99);
        sync_p50.push_back(sync.p50);
        sync_p99.push_back(sync.p99);
        loop_p50.push_back(percentiles_of(probe.times(lab.scaled(500))).p50);
    }
    lab.keep(kept::create, std::move(all_creates));
    lab.keep(kept::create_sync, std::move(all_syncs));
    const auto times = spread_of(ratios(p50, sync_p50));
    lab.add({.name = "create.one",
             .what = "one connection, one durable session.create at a time: p50",
             .unit = "us",
             .figure = spread_of(p50),
             .baseline = "write 4 KiB in place and fdatasync, p50, in turns with the creates",
             .baseline_figure = spread_of(sync_p50),
             .ratio = times,
             .target = "<= 2x",
             .met = times.median <= syncs_max,
             .also = {{"p99_us", spread_of(p99).median},
                      {"fdatasync_p99_us", spread_of(sync_p99).median},
                      {"fdatasync_in_a_loop_p50_us", spread_of(loop_p50).median}}});
}

}  // namespace knell::bench
