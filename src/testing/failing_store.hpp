#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "store/archive.hpp"
#include "store/memory/memory_store.hpp"
#include "store/store.hpp"

namespace knell::testing {

/// A memory store that says no to what a test names, each time until it is taken back.
class FailingStore final : public Store, public ArchiveStore {
  public:
    enum class Call {
        commit,
        find,
        open,
        unsettled,
        processes,
        heads,
        trim,
        log_age,
        index,
        maintain
    };

    std::set<Call> refused;
    int commits = 0;  // that were asked for, refused or not
    int indexings = 0;
    bool has_more_to_index = false;
    std::function<void()> on_index = [] {};  // while it is at it

    Result<void> commit(const Batch& batch) override {
        ++commits;
        if (auto no = refusal(Call::commit)) return std::unexpected(*no);
        return store_->commit(batch);
    }
    Result<std::optional<Session>> find(const SessionId& id) override {
        if (auto no = refusal(Call::find)) return std::unexpected(*no);
        return store_->find(id);
    }
    Result<std::optional<Session>> newest_of_key(const std::string& key) override {
        if (auto no = refusal(Call::find)) return std::unexpected(*no);
        return store_->newest_of_key(key);
    }
    Result<std::optional<Session>> newest_child(const SessionId& parent,
                                                Relation relation) override {
        if (auto no = refusal(Call::find)) return std::unexpected(*no);
        return store_->newest_child(parent, relation);
    }
    Result<void> for_each_open(const std::function<void(const Session&)>& visit) override {
        if (auto no = refusal(Call::open)) return std::unexpected(*no);
        return store_->for_each_open(visit);
    }
    Result<void> for_each_unsettled(const std::function<void(const Session&)>& visit) override {
        if (auto no = refusal(Call::unsettled)) return std::unexpected(*no);
        return store_->for_each_unsettled(visit);
    }
    Result<void> for_each_running_process(
        const std::function<void(const BackgroundProcess&)>& visit) override {
        if (auto no = refusal(Call::processes)) return std::unexpected(*no);
        return store_->for_each_running_process(visit);
    }
    Result<Heads> heads() override {
        if (auto no = refusal(Call::heads)) return std::unexpected(*no);
        return store_->heads();
    }
    Result<Seq> trim_events(Seq last, std::size_t rows_max) override {
        if (auto no = refusal(Call::trim)) return std::unexpected(*no);
        return store_->trim_events(last, rows_max);
    }
    Result<void> save_log_age(const LogAge& age, std::optional<LogMark> mark,
                              Seq forget_until) override {
        if (auto no = refusal(Call::log_age)) return std::unexpected(*no);
        return store_->save_log_age(age, mark, forget_until);
    }
    Result<bool> index_messages(std::size_t messages_max, std::size_t bytes_max) override {
        if (auto no = refusal(Call::index)) return std::unexpected(*no);
        ++indexings;
        on_index();
        auto is_left = archive_of(*store_).index_messages(messages_max, bytes_max);
        if (is_left) *is_left = *is_left || has_more_to_index;
        return is_left;
    }
    Result<void> maintain() override {
        if (auto no = refusal(Call::maintain)) return std::unexpected(*no);
        return store_->maintain();
    }
    Result<std::unique_ptr<Reader>> open_reader() override { return store_->open_reader(); }
    StoreFacts facts() const override { return store_->facts(); }
    const std::string& node_id() const override { return store_->node_id(); }

  private:
    std::optional<Error> refusal(Call call) const {
        if (!refused.contains(call)) return std::nullopt;
        return Error{ErrorCode::storage, "the disk failed", {}, {}};
    }

    std::unique_ptr<Store> store_ = make_memory_store();
};

}  // namespace knell::testing
