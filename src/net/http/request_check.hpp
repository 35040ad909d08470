#pragma once

#include <optional>

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/system/error_code.hpp>

#include "net/http/admission.hpp"

/// What a header must be before anything in it is believed.  Pure.
namespace knell::net::http {

using Header = boost::beast::http::header<true, boost::beast::http::fields>;

/// Shapes by which a proxy and we could disagree about where a request ends, and versions we do not
/// speak.
std::optional<Refusal> why_refused(const Header& request);

/// What to tell a client whose bytes are no request; nothing when there is nobody to tell.
std::optional<Refusal> why_unreadable(const boost::system::error_code& error);

/// Of `request`, which must outlive it.
Sender sender_of(const Header& request);

bool expects_continue(const Header& request);

}  // namespace knell::net::http
