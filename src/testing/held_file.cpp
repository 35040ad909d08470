#include "testing/held_file.hpp"

#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace knell::testing {

HeldFile::HeldFile(const std::string& path) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0 || ::pipe(leave_.data()) != 0) {
        throw std::runtime_error("no pipe");
    }
    pid_ = ::fork();
    if (pid_ == 0) {
        char byte = ::open(path.c_str(), O_RDONLY) >= 0 ? 'y' : 'n';
        ::close(leave_[1]);
        const bool told = ::write(ready[1], &byte, 1) == 1;
        ::_exit(told && ::read(leave_[0], &byte, 1) == 0 ? 0 : 1);
    }
    char byte = 'n';
    const bool heard = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
    ::close(ready[1]);
    ::close(leave_[0]);
    if (!heard || byte != 'y') throw std::runtime_error("cannot hold " + path);
}

HeldFile::~HeldFile() {
    ::close(leave_[1]);
    ::waitpid(pid_, nullptr, 0);
}

}  // namespace knell::testing
