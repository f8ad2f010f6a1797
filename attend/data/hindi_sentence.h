// A clause in English and in Hindi.
#pragma once

#include "attend/data/builtin.h"
#include "attend/data/hindi_clause.h"

namespace attend::data::hindi {

/// Both sentences, lower case without punctuation, and the links between words that mean the same.
Example say(const Clause& clause);

}  // namespace attend::data::hindi
