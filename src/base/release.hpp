#pragma once

namespace knell {

/// Empties a string or vector and gives its memory back: assigning an empty one keeps the memory
/// for later.
template <typename Container>
void release(Container& container) {
    Container().swap(container);
}

}  // namespace knell
