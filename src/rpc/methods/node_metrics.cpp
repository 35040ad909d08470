// node.metrics: the same figures as node.status and hooks.list give, for Prometheus.

#include "rpc/method_table.hpp"
#include "rpc/metric_text.hpp"
#include "rpc/metrics.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::array metrics_result{
    always("content_type", text, "of the text, over HTTP"),
    always("text", content, "the figures in the text format of Prometheus"),
};

void render_metrics(Call&& call, Backend& backend) {
    backend.hooks({HooksCall::Verb::list, {}},
                  [&backend, asker = call.caller.connection,
                   respond = std::move(call.respond)](Result<HooksReply> reply) mutable {
                      if (!reply) return respond(std::unexpected(std::move(reply.error())));
                      backend.read(
                          asker,
                          [&backend, hooks = std::get<HooksReport>(std::move(*reply))](
                              Reader& reader) -> Result<Json> {
                              const auto node = backend.node_status(reader);
                              if (!node) return std::unexpected(node.error());
                              return JsonObject{{"content_type", metrics_content_type},
                                                {"text", metrics(*node, hooks)}};
                          },
                          std::move(respond));
                  });
}

constexpr std::array family{
    Method{"node.metrics",
           "the daemon's figures for Prometheus",
           {},
           metrics_result,
           render_metrics,
           /*is_ordered=*/false,
           Access::read_only},
};

}  // namespace

std::span<const Method> node_metrics_methods() {
    return family;
}

}  // namespace knell::rpc
