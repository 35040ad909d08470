#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/ids.hpp"
#include "wire/field.hpp"
#include "wire/json.hpp"

namespace knell::wire {

/// Rows that were asked for, so that a test can tell which never are.
using FieldTrace = std::set<const Field*>;

/// Reads what a call gives, row by row.  The first thing wrong is kept and names its field; what is
/// read after that is of no use.  A missing field and null mean the same.
///
/// Methods use it through Given, which knows their rows.
class FieldReader {
  public:
    /// `prefix` goes before the names that are told: "--" of a command line.
    explicit FieldReader(const JsonObject& object, FieldTrace* trace = nullptr,
                         std::string_view prefix = {})
        : object_(object), trace_(trace), name_(prefix) {}
    /// Of an object inside: what is wrong in it is told to `outer`, which stays where it is.
    FieldReader(const JsonObject& object, FieldReader& outer, std::string_view name,
                std::optional<std::size_t> index = {})
        : object_(object), trace_(outer.trace_), outer_(&outer), name_(name), index_(index) {}

    /// Of the whole call.
    const std::optional<Error>& error() const { return outermost().error_; }
    std::unexpected<Error> failure() const { return std::unexpected(*error()); }
    void reject(std::string_view name, std::string why);

  protected:
    bool has(const Field& field) const { return find(field) != nullptr; }
    /// "" when missing.
    std::string text(const Field& field);
    SessionId id(const Field& field);
    std::optional<std::int64_t> integer(const Field& field);
    std::optional<bool> boolean(const Field& field);
    /// Its place among the choices.
    std::optional<std::size_t> choice(const Field& field);
    const JsonObject* object(const Field& field);
    /// nullptr when missing.
    const Json* any(const Field& field) const { return find(field); }
    /// An object of the client's own, as text.
    std::string json(const Field& field);
    const JsonArray* array(const Field& field);
    void note(const Field& field) const {
        if (trace_ != nullptr) trace_->insert(&field);
    }

  private:
    const FieldReader& outermost() const { return outer_ == nullptr ? *this : outer_->outermost(); }
    std::string path() const;
    const Json* find(const Field& field) const;
    std::string any_text(const Field& field);
    void missing(const Field& field) { reject(field.name, "is required"); }

    const JsonObject& object_;
    FieldTrace* const trace_;
    FieldReader* const outer_ = nullptr;
    // The path is put together only when there is something to complain about.
    const std::string_view name_;  // in `outer_`, or the prefix
    const std::optional<std::size_t> index_;
    std::optional<Error> error_;  // of the outermost
};

}  // namespace knell::wire
