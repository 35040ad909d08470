#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite/columns.hpp"
#include "store/sqlite/row.hpp"

namespace knell::sqlite {

/// Binds the columns of columns.hpp from left to right: to the parameters of a statement (Binder),
/// or as the fields of a text (process_text.cpp).
template <typename Bind>
class RowBinder {
  public:
    explicit RowBinder(Bind& bind) : bind_(bind) {}

    template <typename Number>
    void number(const char*, const Number& value) {
        if (!put_null()) bind_.number(static_cast<std::int64_t>(value));
    }
    void text(const char*, const std::string& value) {
        if (!put_null()) bind_.text(value);
    }
    void optional(const char*, const std::string& value) {
        if (!put_null()) bind_.optional(value);
    }
    template <typename Id>
    void id(const char* name, const Id& value) {
        optional(name, value.text());
    }
    template <typename Enum, std::size_t Count>
    void word(const char*, const std::array<std::string_view, Count>& names, const Enum& value) {
        if (!put_null()) bind_.word(name_in(names, value));
    }
    void time(const char*, const WallTime& value) {
        if (!put_null()) bind_.time(value);
    }
    void maybe_time(const char*, const std::optional<WallTime>& value) {
        if (!put_null()) bind_.time(value);
    }
    void time_or(const char* name, const WallTime& value, const WallTime&) { time(name, value); }
    void seconds(const char* name, const std::chrono::seconds& value) {
        number(name, value.count());
    }
    void milliseconds(const char* name, const std::chrono::milliseconds& value) {
        number(name, value.count());
    }
    void listened(const char*, const std::optional<SteadyTime>& value) {
        if (!put_null()) bind_.listened(value);
    }
    void reason(const char*, const Reason& value) {
        if (!put_null()) bind_.word(name_of(value));
    }
    void proof(const char* name, const End& end) { word(name, proof_names, end.proof); }
    template <typename Item>
    void lines(const char*, const std::vector<Item>& items) {
        if (!put_null()) bind_.lines(items);
    }
    void labels(const char*, const std::optional<Labels>& labels, bool after_end) {
        bind_.labels(labels, after_end);
    }
    void words(const char*, const std::vector<std::string>& words) {
        if (!put_null()) bind_.words(words);
    }
    void process(const char*, const std::optional<BackgroundProcess>& process) {
        bind_.process(process);
    }
    void compression(const char*, const std::optional<Compression>& compression) {
        bind_.compression(compression);
    }
    void stuck(const char*, const std::optional<Stuck>& stuck) { bind_.stuck(stuck); }
    template <typename Value>
    void derived(const char* name, Value&& value) {
        number(name, value());
    }
    template <typename Rest>
    void when(bool holds, Rest&& rest) {
        const bool before = absent_;
        absent_ = absent_ || !holds;
        rest();
        absent_ = before;
    }
    void end(const std::optional<End>& end) {
        if (end) return end_columns(*this, *end);
        for (int column = 0; column < end_width; ++column) bind_.null();
    }
    void end_or_detail(const std::optional<End>& told, const std::string& detail) {
        if (told) return end_columns(*this, *told);
        for (int column = 0; column < end_width; ++column) {
            column == detail_in_end ? bind_.optional(detail) : bind_.null();
        }
    }

    void exit(const std::optional<ProcessExit>& exit) {
        if (exit) return exit_columns(*this, *exit);
        for (int column = 0; column < exit_width; ++column) bind_.null();
    }

  private:
    bool put_null() {
        if (absent_) bind_.null();
        return absent_;
    }

    Bind& bind_;
    bool absent_ = false;
};

}  // namespace knell::sqlite
