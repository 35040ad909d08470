// events.read and events.subscribe: the log, page by page and as it is written.

#include "core/limits.hpp"
#include "rpc/feeds.hpp"
#include "rpc/method_table.hpp"
#include "wire/session_fields.hpp"
#include "wire/session_json.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr Field types_param{.name = "types",
                            .type = array,
                            .choices = names_of<EventType>,
                            .items = choice,
                            .about = "only these types"};
constexpr Field of_session_param{.name = "session_id", .type = id, .about = "only of this session"};

constexpr std::array read_params{
    Field{.name = "after",
          .type = integer,
          .max = unbounded,
          .standard = 0,
          .about = "events after this sequence number, default 0"},
    Field{.name = "limit",
          .type = integer,
          .min = 1,
          .max = limits::events_page_max,
          .standard = limits::events_page_default,
          .about = "1 to 5000, default 500"},
    types_param,
    of_session_param,
};
constexpr std::array gap_fields{
    always("from", integer, "the first that is no longer kept"),
    always("to", integer, "the last"),
};
constexpr std::array read_result{
    with_object(always("events", array, "oldest first"), "event", event_fields),
    always("next", integer, "how far the log was looked at: `after` of the next page"),
    Field{.name = "gap",
          .type = object,
          .fields = gap_fields,
          .when = "events are no longer kept",
          .about = "which"},
};
constexpr std::array subscribe_params{
    Field{.name = "after",
          .type = integer,
          .max = unbounded,
          .about = "begin after this number, 0 for all; default: only new ones"},
    types_param,
    of_session_param,
};
constexpr std::array subscribe_result{
    always("after", integer, "the events after this one follow, as notifications"),
};

std::vector<EventType> read_types(wire::FieldReader& given, const JsonArray* names) {
    std::vector<EventType> types;
    if (names == nullptr) return types;
    for (const auto& name : *names) {
        const auto type = name.is_string() ? find_in<EventType>(event_type_names,
                                                                std::string_view(name.get_string()))
                                           : std::nullopt;
        if (!type) given.reject(types_param.name, wire::to_text(name) + " is not an event type");
        types.push_back(type.value_or(EventType::notice));
    }
    return types;
}

JsonObject render(const EventPage& page, std::string_view node_id) {
    JsonArray events;
    for (const auto& event : page.events) events.push_back(wire::to_json(event, node_id));
    JsonObject result;
    result["events"] = std::move(events);
    result["next"] = page.next;
    if (page.gap) result["gap"] = JsonObject{{"from", page.gap->from}, {"to", page.gap->to}};
    return result;
}

void read(Call&& call, Backend& backend) {
    auto given = given_of<read_params>(call);
    EventQuery query;
    query.after = given.get<"after">();
    query.session_id = given.get<"session_id">();
    query.types = read_types(given, given.array<"types">());
    query.limit = given.get_as<std::size_t, "limit">();
    query.bytes_max = limits::page_bytes_max;
    if (given.error()) return call.respond(given.failure());
    if (!query.session_id.empty()) backend.note_named(query.session_id);
    backend.read(
        call.caller.connection,
        [query = std::move(query), &node = backend.node_id()](Reader& reader) -> Result<Json> {
            const auto page = reader.events(query);
            if (!page) return std::unexpected(page.error());
            return render(*page, node);
        },
        std::move(call.respond));
}

void subscribe(Call&& call, Backend& backend) {
    auto given = given_of<subscribe_params>(call);
    const auto after = given.get<"after">();
    Subscription subscription;
    subscription.query.after = after.value_or(0);
    subscription.query.session_id = given.get<"session_id">();
    subscription.query.types = read_types(given, given.array<"types">());
    subscription.from_now = !after;
    if (given.error()) return call.respond(given.failure());
    if (call.stream == nullptr) {
        return call.respond(fail(ErrorCode::invalid_request,
                                 "events can only be followed on a connection that stays open; "
                                 "ask with events.read"));
    }
    if (const auto& session = subscription.query.session_id; !session.empty()) {
        backend.note_named(session);
    }
    backend.feeds().subscribe(std::move(subscription), *call.stream, std::move(call.respond));
}

constexpr std::array family{
    Method{"events.read", "events after a sequence number", read_params, read_result, read,
           /*is_ordered=*/false, Access::read_only},
    Method{"events.subscribe", "events as they happen, one notification each", subscribe_params,
           subscribe_result, subscribe, /*is_ordered=*/false, Access::read_only},
};

}  // namespace

std::span<const Method> events_methods() {
    return family;
}

}  // namespace knell::rpc
