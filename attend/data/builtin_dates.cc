#include <algorithm>
#include <chrono>
#include <iterator>

#include "attend/data/builtin_split.h"

namespace attend::data {
namespace {

constexpr size_t kDatesTrain = 20000;
constexpr int kFirstYear = 1900, kYears = 200;

constexpr std::string_view kMonths[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
constexpr std::string_view kWeekdays[] = {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};

// %W saturday, %w sat, %d 14, %o 14th, %M march, %m mar, %n 3, %y 2020. Where the month is a number, the punctuation
// says which is which: dots put the day first, slashes the year, so that no source has two readings.
constexpr std::string_view kDateForms[] = {
    "%d %M %y",      "%W %d %M %y", "%M %d, %y",    "%W, %M %d, %y", "the %o of %M %y", "%W the %o of %M %y",
    "%o of %M, %y",  "%M %o, %y",   "%W, %o %M %y", "%d %m %y",      "%w %d %m %y",     "%m %d, %y",
    "%w, %m %d, %y", "%y, %M %d",   "%d.%n.%y",     "%w %d.%n.%y",   "%y/%n/%d",        "%d-%m-%y",
};

std::string_view ordinal_ending(unsigned day) {
  constexpr std::string_view kEndings[] = {"th", "st", "nd", "rd"};
  const bool teen = day / 10 == 1;
  return teen || day % 10 > 3 ? kEndings[0] : kEndings[day % 10];
}

std::string date_field(char code, std::chrono::year_month_day date) {
  const unsigned day(date.day()), month(date.month());
  const unsigned weekday = std::chrono::weekday(std::chrono::sys_days(date)).c_encoding();
  switch (code) {
    case 'W': return std::string(kWeekdays[weekday]);
    case 'w': return std::string(kWeekdays[weekday].substr(0, 3));
    case 'd': return std::to_string(day);
    case 'o': return std::to_string(day).append(ordinal_ending(day));
    case 'M': return std::string(kMonths[month - 1]);
    case 'm': return std::string(kMonths[month - 1].substr(0, 3));
    case 'n': return std::to_string(month);
    default: return std::to_string(int(date.year()));
  }
}

std::string print_date(std::string_view format, std::chrono::year_month_day date) {
  std::string text;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '%')
      text += date_field(format[++i], date);
    else
      text += format[i];
  }
  return text;
}

std::string print_iso(std::chrono::year_month_day date) {
  const auto two = [](unsigned number) { return (number < 10 ? "-0" : "-") + std::to_string(number); };
  return std::to_string(int(date.year())) + two(unsigned(date.month())) + two(unsigned(date.day()));
}

Example draw_date(Random& random) {
  using namespace std::chrono;
  const sys_days first = year(kFirstYear) / January / 1, end = year(kFirstYear + kYears) / January / 1;
  const year_month_day date = first + days(random.below((end - first).count()));
  return {print_date(kDateForms[random.below(std::size(kDateForms))], date), print_iso(date), {}};
}

}  // namespace

BuiltinCorpus make_dates(uint64_t seed) { return drawn_corpus("dates", seed, kDatesTrain, HoldOut::kAny, draw_date); }

}  // namespace attend::data
