#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include "base/check.hpp"
#include "core/error.hpp"
#include "wire/rendered.hpp"

namespace knell::rpc {

/// The answer to one call: given once, on the thread that dispatched the call.  It cannot be
/// forgotten: one that goes without having been given is answered `internal`, so no client waits
/// for ever because of a path that nobody thought of.
class Respond {
  public:
    using Answer = std::move_only_function<void(Result<wire::Rendered>)>;
    /// What is done with an answer that was not given.  Any thread.
    using Forgotten = std::move_only_function<void(Answer)>;

    Respond() = default;  // nobody waits
    template <typename Callable>
        requires(std::invocable<Callable&, Result<wire::Rendered>> &&
                 !std::same_as<Callable, Respond>)
    Respond(Callable answer)  // NOLINT(google-explicit-constructor): as any function
        : answer_(std::move(answer)) {}
    Respond(Answer answer, Forgotten forgotten)
        : answer_(std::move(answer)), forgotten_(std::move(forgotten)) {}
    Respond(Respond&& other) noexcept
        : answer_(std::exchange(other.answer_, nullptr)),
          forgotten_(std::exchange(other.forgotten_, nullptr)) {}
    Respond& operator=(Respond&& other) noexcept {
        if (this == &other) return *this;
        forget();
        answer_ = std::exchange(other.answer_, nullptr);
        forgotten_ = std::exchange(other.forgotten_, nullptr);
        return *this;
    }
    ~Respond() { forget(); }

    explicit operator bool() const { return static_cast<bool>(answer_); }
    void operator()(Result<wire::Rendered> result) {
        CHECK(answer_);
        std::exchange(answer_, nullptr)(std::move(result));
    }
    /// The same, which gives what `change` makes of the answer.
    template <typename Change>
    Respond changed_by(Change change) && {
        return {[answer = std::exchange(answer_, nullptr), change = std::move(change)](
                    Result<wire::Rendered> result) mutable { answer(change(std::move(result))); },
                std::exchange(forgotten_, nullptr)};
    }
    /// Whoever asked is gone.
    void release() { answer_ = nullptr; }

  private:
    void forget() {
        if (!answer_) return;
        auto answer = std::exchange(answer_, nullptr);
        if (forgotten_) return forgotten_(std::move(answer));
        answer(fail(ErrorCode::internal, "the call was not answered"));
    }

    Answer answer_;
    Forgotten forgotten_;
};

}  // namespace knell::rpc
