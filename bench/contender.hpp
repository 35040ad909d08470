#pragma once

#include <memory>
#include <string>
#include <vector>

#include "end_stream.hpp"
#include "lab.hpp"

namespace knell::bench {

/// How long after its owner was gone each end was heard.
struct EndsHeard {
    std::vector<double> seconds;  // one for each end, as long as we waited for those not heard
    std::size_t unheard = 0;
};

/// One way to learn that owners are gone, beside others that live.  Made by the functions below,
/// each of which starts what it needs on loopback; it ends with the object.
class Contender {
  public:
    Contender() = default;
    virtual ~Contender() = default;
    Contender(const Contender&) = delete;
    Contender& operator=(const Contender&) = delete;

    /// `count` owners go at the same time.
    virtual EndsHeard lose_together(std::size_t count) = 0;
    /// `count` owners go one after another, each alone.
    virtual EndsHeard lose_singly(std::size_t count) = 0;
};

/// What a contender with leases has in common with another.
class LeaseContender : public Contender {
  public:
    explicit LeaseContender(double patience_s) : patience_s_(patience_s) {}

    EndsHeard lose_together(std::size_t count) final;
    EndsHeard lose_singly(std::size_t count) final;

  protected:
    static constexpr int ttl_s = 5;

    /// Grants a lease of `ttl_s` to `count` owners, numbered from `first`; gives when each was
    /// acknowledged.  They are never renewed.
    virtual std::vector<double> grant(std::size_t first, std::size_t count) = 0;
    virtual EndStream& ends() = 0;

  private:
    EndsHeard wait_for(const std::vector<double>& gone);

    const double patience_s_;
    std::size_t next_ = 0;
};

std::unique_ptr<Contender> knell_by_pidfd(const Lab& lab, std::size_t others);
std::unique_ptr<Contender> knell_by_lease(const Lab& lab, std::size_t others);
std::unique_ptr<Contender> etcd_with_watch(const Lab& lab, std::size_t others);
/// One lease for all that go together.
std::unique_ptr<Contender> etcd_with_one_lease(const Lab& lab, std::size_t others);
std::unique_ptr<Contender> redis_with_notifications(const Lab& lab, std::size_t others);
std::unique_ptr<Contender> sqlite_reaper(const Lab& lab, std::size_t others);

/// How long after it was granted an end is waited for.
double patience_s(const Lab& lab);

}  // namespace knell::bench
