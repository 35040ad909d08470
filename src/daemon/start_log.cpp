#include "daemon/start_log.hpp"

#include "platform/log.hpp"
#include "platform/version.hpp"

namespace knell {

void log_started(const Paths& paths, const Writer::Figures& figures) {
    log_info("knell {} listens at {}", version, paths.listen_socket);
    log_info("store {} holds {} open sessions; the last event is number {}", paths.store_file,
             figures.open.load(), figures.last_seq.load());
    log_info(
        "try in another terminal: knell run -- sh -c 'echo hello'; then: knell ls; knell "
        "events");
}

int log_no_start(const Error& error) {
    log_error("knell does not start: {}", error.message);
    return 1;
}

}  // namespace knell
