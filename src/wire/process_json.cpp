#include "wire/process_json.hpp"

#include "wire/fields.hpp"
#include "wire/object_sink.hpp"

namespace knell::wire {

ProcessScope scope_of(const BackgroundProcess& process, std::string_view task_id) {
    const bool is_asked_for =
        task_id.empty() ? !process.task_id.empty() : process.task_id == task_id;
    return is_asked_for ? ProcessScope::task : ProcessScope::session;
}

JsonObject to_json(const BackgroundProcess& process, const ProcessView& view) {
    JsonObject object;
    ObjectSink sink(object);
    list_fields(sink, process, view);
    return object;
}

}  // namespace knell::wire
