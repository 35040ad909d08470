#pragma once

#include <vector>

#include "stores.hpp"

namespace knell::testing {

/// Session "a" is open, and background processes are named after their pids.
class BackgroundStory : public StoreStory {
  protected:
    BackgroundStory() { journal().one(create("a"), at(0)); }

    BackgroundProcess process(int pid) {
        const auto found = reader().process(process_id(pid));
        EXPECT_TRUE(found && *found) << pid << " is not on record";
        return found && *found ? (**found).process : BackgroundProcess{};
    }
    /// Says it, and gives what follows for the outside.
    Journal::Step say(Input input, Now now) {
        std::vector<Input> inputs;
        inputs.push_back(std::move(input));
        return journal().step(std::move(inputs), now);
    }
    static Error refusal(const Result<Reply>& reply) {
        EXPECT_FALSE(reply);
        return reply ? Error{} : reply.error();
    }
    static BackgroundProcess told(const Result<Reply>& reply) {
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? std::get<ProcessReply>(*reply).process : BackgroundProcess{};
    }
    Status status(const std::string& id) { return status_of(shown(id)); }
    /// Of processes, in order.
    std::vector<Event> process_events() {
        std::vector<Event> events;
        for (auto& event : reader().events({.limit = 1000})->events) {
            if (event.process) events.push_back(std::move(event));
        }
        return events;
    }
};

template <typename Wanted>
std::vector<Wanted> effects_of(const Journal::Step& step) {
    std::vector<Wanted> found;
    for (const auto& effect : step.effects) {
        if (const auto* wanted = std::get_if<Wanted>(&effect)) found.push_back(*wanted);
    }
    return found;
}

}  // namespace knell::testing
