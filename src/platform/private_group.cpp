#include "platform/private_group.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "platform/small_file.hpp"

namespace knell {

namespace {

constexpr std::size_t accounts_bytes_max = 16U << 20U;

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

struct Account {
    std::string_view name;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
};

bool is_blank_or_remark(std::string_view line) {
    return line.empty() || line.starts_with('#');
}

/// Nothing when a line cannot be understood: it may name somebody.
std::optional<std::vector<Account>> read_accounts(std::string_view passwd) {
    std::vector<Account> accounts;
    for (const auto line : split(passwd, '\n')) {
        if (is_blank_or_remark(line)) continue;
        const auto fields = split(line, ':');
        if (fields.size() < 4) return std::nullopt;
        const auto uid = number(fields[2]);
        const auto gid = number(fields[3]);
        if (!uid || !gid) return std::nullopt;
        accounts.push_back({fields[0], *uid, *gid});
    }
    return accounts;
}

}  // namespace

bool is_private_group(std::string_view passwd, std::string_view groups, uid_t owner, gid_t gid) {
    const auto accounts = read_accounts(passwd);
    if (!accounts) return false;
    const auto may_be_in = [&](const Account& one) { return one.uid == owner || one.uid == 0; };
    bool is_owners = false;
    for (const auto& account : *accounts) {
        if (account.gid != gid) continue;
        if (!may_be_in(account)) return false;
        is_owners = is_owners || account.uid == owner;
    }
    if (!is_owners) return false;

    bool is_listed = false;
    for (const auto line : split(groups, '\n')) {
        if (is_blank_or_remark(line)) continue;
        const auto fields = split(line, ':');
        const auto its_gid = fields.size() < 4 ? std::nullopt : number(fields[2]);
        if (!its_gid) return false;
        if (*its_gid != gid) continue;
        is_listed = true;
        for (const auto member : split(fields[3], ',')) {
            if (member.empty()) continue;
            const auto account = std::ranges::find(*accounts, member, &Account::name);
            if (account == accounts->end() || !may_be_in(*account)) return false;
        }
    }
    return is_listed;
}

bool is_private_group(uid_t owner, gid_t gid) {
    const auto passwd = read_regular_file("/etc/passwd", accounts_bytes_max);
    const auto groups = read_regular_file("/etc/group", accounts_bytes_max);
    return passwd && groups && is_private_group(*passwd, *groups, owner, gid);
}

}  // namespace knell
