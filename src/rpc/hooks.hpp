#pragma once

#include "rpc/dispatcher.hpp"

namespace knell::rpc {

void hooks_list(Call&& call, Backend& backend);
void hooks_test(Call&& call, Backend& backend);
void hooks_retry(Call&& call, Backend& backend);
void hooks_pause(Call&& call, Backend& backend);
void hooks_resume(Call&& call, Backend& backend);
void hooks_forget(Call&& call, Backend& backend);
void hooks_letters(Call&& call, Backend& backend);

}  // namespace knell::rpc
