#include "promises.hpp"

namespace knell::sim {

const std::vector<Promise>& promises() {
    static const std::vector<Promise> all{
        {Moment::step, "event numbers without holes", wrong_number},
        {Moment::step, "one start and one end a generation", second_start_or_end},
        {Moment::step, "fenced writes are refused, rightful ones taken", wrong_reply},
        {Moment::step, "nobody's word hides a death that was seen before it", death_hidden},
        {Moment::settled, "no lease whose renewal arrived in time is reaped", renewal_ignored},
        {Moment::settled, "no end without evidence, no living owner's session ended",
         end_unfounded},
        {Moment::former, "no end without evidence, no living owner's session ended", end_unfounded},
        {Moment::settled, "the true time of death lies within the bounds", bounds_false},
        {Moment::former, "the true time of death lies within the bounds", bounds_false},
        {Moment::watching, "watched means watched, and unknown that it is not", watch_differs},
        {Moment::settled, "observed is what was seen, not what was claimed", observed_by_nobody},
        {Moment::start, "a lease runs out, however often the daemon starts", outlived_its_lease},
        {Moment::settled, "a crowd of leases is not reaped at once", crowd_reaped},
        {Moment::settled, "count = reality: on record look at a session who really does",
         clients_miscounted},
        {Moment::start, "count = reality: on record look at a session who really does",
         clients_miscounted},
        {Moment::rested, "count = reality: on record look at a session who really does",
         clients_miscounted},
        {Moment::settled, "no attach is lost to an expiry", attach_lost},
        {Moment::settled, "the first that comes and the last that is gone are told once",
         wrongly_told},
        {Moment::former, "the first that comes and the last that is gone are told once",
         wrongly_told},
        {Moment::rested, "the first that comes and the last that is gone are told once",
         going_untold},
        {Moment::step, "a good disk refuses nothing", refused_by_a_good_disk},
        {Moment::settled, "starts minus ends equals open", open_miscounted},
        {Moment::settled, "acknowledged implies durable", acknowledged_but_absent},
        {Moment::settled, "an event says whose generation it is about", event_misnames},
        {Moment::settled, "memory and the store say the same", memory_differs},
        {Moment::start, "memory and the store say the same", memory_differs_anywhere},
        {Moment::rested, "memory and the store say the same", memory_differs_anywhere},
        {Moment::start, "starts minus ends equals open", open_miscounted},
        {Moment::start, "the record keeps its own promises", record_broken},
        {Moment::signal, "nothing is signalled that its session did not leave to be stopped",
         signalled_wrongly},
        {Moment::healed, "what became of leftovers is on record", fate_unknown},
        {Moment::hearing, "who was forgotten hears nothing from before", heard_from_before},
        {Moment::hearing, "what is heard is what the log says", rendered_differs},
        {Moment::hearing, "each session is heard in order", out_of_order},
        {Moment::hearing, "nothing is heard twice that is on record as delivered", heard_again},
        {Moment::asked, "only who is absent is forgotten, and a refusal changes nothing",
         wrongly_forgotten},
        {Moment::saved, "a subscriber keeps its place until it is forgotten", place_lost},
        {Moment::saved, "who is forgotten leaves nothing behind", forgotten_but_kept},
        {Moment::refused, "a save that is refused changes nothing", record_changed},
        {Moment::saved, "a subscriber's view equals the log up to its cursor", view_differs},
        {Moment::saved, "what was delivered is not kept", delivered_but_kept},
        {Moment::saved, "the scheduler and the store say the same", courier_differs},
        {Moment::settled, "a start hears the spool before it looks at owners", spooled_end_ignored},
        {Moment::taken_in, "what was spooled is on record once, or kept", run_lost},
        {Moment::settled, "what was spooled is on record once, or kept", run_doubled},
        {Moment::former, "what was spooled is on record once, or kept", run_doubled},
        {Moment::healed, "what was spooled is on record once, or kept", spool_not_empty},
        {Moment::feeding, "a feed tells every event once, in order, or what is lost", feed_differs},
        {Moment::healed, "a feed tells every event once, in order, or what is lost", feed_silent},
        {Moment::rested, "a watched owner's death is noticed", dead_unnoticed},
        {Moment::healed, "nothing is held past its bound", still_open},
        {Moment::healed, "everybody has heard everything", not_all_heard},
        {Moment::healed, "the record keeps its own promises", record_broken},
    };
    return all;
}

std::optional<Broken> find_broken(Moment moment, const Scene& scene) {
    for (const auto& promise : promises()) {
        if (promise.moment != moment) continue;
        if (auto what = promise.check(scene); !what.empty()) return Broken{promise.name, what};
    }
    return std::nullopt;
}

}  // namespace knell::sim
