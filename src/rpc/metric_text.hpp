#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace knell::rpc {

inline constexpr std::string_view metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

/// Writes the text format of Prometheus.  A family is begun, then has its samples; one without any
/// leaves no trace.
class MetricText {
  public:
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    /// A value that goes up and down.
    MetricText& gauge(std::string_view name, std::string_view help);
    /// One that only rises, but for a restart; its name ends in "_total".
    MetricText& counter(std::string_view name, std::string_view help);

    /// Of the family that was begun last.
    template <typename Number>
        requires std::integral<Number> || std::floating_point<Number>
    MetricText& sample(Number value, Labels labels = {}) {
        add(fmt::format("{}", value), labels);
        return *this;
    }

    std::string take() { return std::move(text_); }

  private:
    void begin(std::string_view name, std::string_view help, std::string_view type);
    void add(std::string_view value, Labels labels);

    std::string text_;
    std::string name_;
    std::string head_;  // of a family that has no sample yet
};

}  // namespace knell::rpc
