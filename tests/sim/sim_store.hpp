#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "host.hpp"
#include "store/archive.hpp"
#include "store/store.hpp"

namespace knell::sim {

/// A real store that may be slow, and may refuse commits where there is no disk to break.
class SimStore final : public Store, public ArchiveStore {
  public:
    /// `meanwhile` is called every now and then while a commit takes its time: the daemon's other
    /// threads go on.
    SimStore(Store& inner, Host& host, std::function<void()> meanwhile)
        : inner_(inner), host_(host), meanwhile_(std::move(meanwhile)) {}

    int refusals = 0;  // commits still to be refused
    Host::Duration commit_takes{0};

    Result<void> commit(const Batch& batch) override {
        for (auto left = commit_takes; left.count() > 0;) {
            const auto piece = std::min<Host::Duration>(left, std::chrono::milliseconds{100});
            host_.pass(piece);
            left -= piece;
            meanwhile_();
        }
        if (refusals > 0) {
            --refusals;
            return fail(ErrorCode::storage, "the simulated store says no");
        }
        return inner_.commit(batch);
    }
    Result<std::optional<Session>> find(const SessionId& id) override { return inner_.find(id); }
    Result<std::optional<Session>> newest_of_key(const std::string& key) override {
        return inner_.newest_of_key(key);
    }
    Result<std::optional<Session>> newest_child(const SessionId& parent,
                                                Relation relation) override {
        return inner_.newest_child(parent, relation);
    }
    Result<void> for_each_open(const std::function<void(const Session&)>& visit) override {
        return inner_.for_each_open(visit);
    }
    Result<void> for_each_unsettled(const std::function<void(const Session&)>& visit) override {
        return inner_.for_each_unsettled(visit);
    }
    Result<void> for_each_running_process(
        const std::function<void(const BackgroundProcess&)>& visit) override {
        return inner_.for_each_running_process(visit);
    }
    Result<Heads> heads() override { return inner_.heads(); }
    Result<Seq> trim_events(Seq last, std::size_t rows) override {
        return inner_.trim_events(last, rows);
    }
    Result<void> save_log_age(const LogAge& age, std::optional<LogMark> mark,
                              Seq forget_until) override {
        return inner_.save_log_age(age, mark, forget_until);
    }
    Result<bool> index_messages(std::size_t messages, std::size_t bytes) override {
        return archive_of(inner_).index_messages(messages, bytes);
    }
    Result<void> maintain() override { return inner_.maintain(); }
    Result<std::unique_ptr<Reader>> open_reader() override { return inner_.open_reader(); }
    StoreFacts facts() const override { return inner_.facts(); }
    const std::string& node_id() const override { return inner_.node_id(); }

  private:
    Store& inner_;
    Host& host_;
    const std::function<void()> meanwhile_;
};

}  // namespace knell::sim
