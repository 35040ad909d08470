#pragma once

namespace knell {

/// Takes the places of descriptors 0, 1 and 2 that we were started without, before anything else is
/// opened: a lock, a socket or the log would get that number and be written to as if it were the
/// output.  Reading or writing there fails as before, and a program that we execute finds them
/// closed as we did.
void hold_standard_descriptors();

}  // namespace knell
