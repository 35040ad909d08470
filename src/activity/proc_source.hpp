#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "activity/process_look.hpp"
#include "activity/sample_source.hpp"
#include "activity/socket_tables.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// Looks at process trees through /proc: at the process itself and what its children files lead to,
/// never at all processes there are.
///
/// Descriptors are costly to list, so it is done when the tree has changed or done something, and
/// now and then.  One thread.
class ProcSource final : public SampleSource {
  public:
    /// Of one tree; what is below stays unseen, and it counts as busy.
    static constexpr std::size_t members_max = 512;
    /// Of those that have left one tree; more are not remembered.
    static constexpr std::size_t escaped_max = 64;

    explicit ProcSource(const ProcessTable& table, std::string proc = "/proc");

    void begin_round(SteadyTime now) override;
    TreeSample look(const ProcessIdentity& process, SteadyTime now) override;
    void forget(const ProcessIdentity& process) override;

  private:
    /// What is kept of a tree between two looks.
    struct Tree {
        std::map<TreeMember, KnownChildren> children;
        std::vector<TreeMember> escaped;
        // As of the last time that descriptors were listed:
        std::optional<SteadyTime> listed_at;
        SteadyTime first_listed{};
        std::vector<TreeMember> members;
        std::chrono::milliseconds cpu{0};
        std::uint64_t io_bytes = 0;
        std::vector<std::uint64_t> sockets;  // inodes
        std::string unseen;                  // why they could not be listed
        std::uint64_t network = 0;           // the namespace that they are in
        pid_t in_network = 0;                // one that is in it
    };
    using Key = std::tuple<std::int32_t, std::uint64_t>;

    std::optional<TreeSample> why_not_here(const ProcessIdentity& process) const;
    static TreeSample cannot_open(const ProcessIdentity& process, int error);
    TreeSample walk(const MemberLook& first, Tree& tree, SteadyTime now) const;
    std::vector<TreeMember> find_escaped(const Tree& before, const TreeSample& now) const;
    static void add(const MemberLook& look, TreeSample& sample);
    static bool is_due(const Tree& tree, const TreeSample& sample, SteadyTime now);
    void list_descriptors(Tree& tree, const TreeSample& sample, SteadyTime now) const;
    void add_sockets(Tree& tree, TreeSample& sample, SteadyTime now);

    const std::string proc_;
    const std::string boot_id_;
    const std::uint64_t pid_namespace_;
    SocketTables tables_;
    std::map<Key, Tree> trees_;
};

}  // namespace knell
