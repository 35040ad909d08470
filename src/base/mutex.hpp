#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// clang refuses code that touches what KNELL_GUARDED_BY marks where that mutex is not held; g++
// knows nothing of it.
#if defined(__clang__)
#define KNELL_THREADS(attribute) __attribute__((attribute))
#else
#define KNELL_THREADS(attribute)
#endif
#define KNELL_GUARDED_BY(mutex) KNELL_THREADS(guarded_by(mutex))
/// Of a function: its caller holds the mutex.
#define KNELL_REQUIRES(mutex) KNELL_THREADS(requires_capability(mutex))

namespace knell {

/// std::mutex, as the compiler understands it.
class KNELL_THREADS(capability("mutex")) Mutex {
  public:
    void lock() KNELL_THREADS(acquire_capability()) { native_.lock(); }
    void unlock() KNELL_THREADS(release_capability()) { native_.unlock(); }
    /// For code that is only called with the mutex held, where that cannot be seen.
    void is_held() const KNELL_THREADS(assert_capability(this)) {}

  private:
    friend class Condition;
    std::mutex native_;
};

/// Holds a mutex until the end of the block.
class KNELL_THREADS(scoped_lockable) Lock {
  public:
    explicit Lock(Mutex& mutex) KNELL_THREADS(acquire_capability(mutex)) : mutex_(mutex) {
        mutex_.lock();
    }
    ~Lock() KNELL_THREADS(release_capability()) { mutex_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    friend class Condition;
    Mutex& mutex_;
};

/// Waits under a lock for something that another thread does under it.  `is_true` is called with
/// the mutex held and says so: `[this]() KNELL_REQUIRES(mutex_) { return ...; }`.
class Condition {
  public:
    template <typename IsTrue>
    void wait(Lock& lock, IsTrue&& is_true) {
        std::unique_lock held(lock.mutex_.native_, std::adopt_lock);
        changed_.wait(held, is_true);
        held.release();
    }
    template <typename IsTrue>
    bool wait_for(Lock& lock, std::chrono::milliseconds wait_max, IsTrue&& is_true) {
        std::unique_lock held(lock.mutex_.native_, std::adopt_lock);
        const bool became_true = changed_.wait_for(held, wait_max, is_true);
        held.release();
        return became_true;
    }
    void notify_one() { changed_.notify_one(); }
    void notify_all() { changed_.notify_all(); }

  private:
    std::condition_variable changed_;
};

/// A value that can be touched only by whoever has locked it: `value.lock()->size()`.
template <typename T>
class Guarded {
  public:
    class Locked {
      public:
        explicit Locked(Guarded& guarded) : lock_(guarded.mutex_), value_(guarded.value_) {}
        T* operator->() const { return &value_; }
        T& operator*() const { return value_; }

      private:
        const std::scoped_lock<std::mutex> lock_;
        T& value_;
    };
    /// Until what it gives goes.
    [[nodiscard]] Locked lock() { return Locked(*this); }

  private:
    std::mutex mutex_;
    T value_;
};

}  // namespace knell
