// Which clauses can be told from their Hindi, for translating from it.
#pragma once

#include "attend/data/hindi_clause.h"

namespace attend::data::hindi {

/// Whether this is what its Hindi sentence is taken to mean. Where Hindi leaves open what English must express, one reading
/// is taken:
///   - things are "the", substances nothing, what people are "a": kitaab, the book; pani, water; woh doctor hai, he is a
///     doctor;
///   - "uska" is his, and who is neither a man nor a woman by the verb is "he": usne khaya, he ate;
///   - "woh" and "ve" are persons where they are somebody: woh mera dost hai, he is my friend;
///   - a noun that has one form for one and many is one, unless it is counted: seb, the apple; do seb, two apples;
///   - birds are watched: chidiya dekhna.
bool is_usual_reading(const Clause& clause);

}  // namespace attend::data::hindi
