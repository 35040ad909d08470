#pragma once

#include <memory>
#include <utility>

#include "store/archive.hpp"
#include "store/change_notes.hpp"
#include "store/store.hpp"

namespace knell {

/// A store, and notes of what is written to it.
class NotingStore final : public Store, public ArchiveStore {
  public:
    explicit NotingStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}

    /// For one reader.  Any thread.
    ChangeNotes& notes() { return notes_; }

    Result<void> commit(const Batch& batch) override {
        ChangeNotes::Writing writing(notes_);
        auto done = store_->commit(batch);
        if (done) writing.committed(batch);
        return done;
    }
    Result<Seq> trim_events(Seq last, std::size_t rows_max) override {
        const ChangeNotes::Writing writing(notes_);
        return store_->trim_events(last, rows_max);
    }
    Result<void> save_log_age(const LogAge& age, std::optional<LogMark> mark,
                              Seq forget_until) override {
        const ChangeNotes::Writing writing(notes_);
        return store_->save_log_age(age, mark, forget_until);
    }
    Result<bool> index_messages(std::size_t messages_max, std::size_t bytes_max) override {
        const ChangeNotes::Writing writing(notes_);
        return archive_of(*store_).index_messages(messages_max, bytes_max);
    }

    Result<std::optional<Session>> find(const SessionId& id) override { return store_->find(id); }
    Result<std::optional<Session>> newest_of_key(const std::string& key) override {
        return store_->newest_of_key(key);
    }
    Result<std::optional<Session>> newest_child(const SessionId& parent,
                                                Relation relation) override {
        return store_->newest_child(parent, relation);
    }
    Result<void> for_each_open(const std::function<void(const Session&)>& visit) override {
        return store_->for_each_open(visit);
    }
    Result<void> for_each_unsettled(const std::function<void(const Session&)>& visit) override {
        return store_->for_each_unsettled(visit);
    }
    Result<void> for_each_running_process(
        const std::function<void(const BackgroundProcess&)>& visit) override {
        return store_->for_each_running_process(visit);
    }
    Result<Heads> heads() override { return store_->heads(); }
    Result<void> maintain() override { return store_->maintain(); }
    Result<std::unique_ptr<Reader>> open_reader() override { return store_->open_reader(); }
    StoreFacts facts() const override { return store_->facts(); }
    const std::string& node_id() const override { return store_->node_id(); }

  private:
    const std::unique_ptr<Store> store_;
    ChangeNotes notes_;
};

}  // namespace knell
