// What mpirun says of a process, and what follows from it.
#include <gtest/gtest.h>

#include "attend/dist/company.h"

namespace attend::dist {
namespace {

TEST(Launch, IsOneAloneUnlessMpirunSaysOtherwise) {
  ::unsetenv("OMPI_COMM_WORLD_SIZE"), ::unsetenv("OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(launch().size, 1);
  EXPECT_EQ(launch().rank, 0);
  EXPECT_TRUE(company()->alone());
  ::setenv("OMPI_COMM_WORLD_SIZE", "8", 1), ::setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  EXPECT_EQ(launch().size, 8);
  EXPECT_EQ(launch().rank, 3);
  ::unsetenv("OMPI_COMM_WORLD_SIZE"), ::unsetenv("OMPI_COMM_WORLD_RANK");
}

TEST(Launch, SharesTheCoresOfAMachineOut) {
  EXPECT_EQ(threads_of({0, 8, 4}, 16, 16), 4);    // bound to none in particular
  EXPECT_EQ(threads_of({0, 8, 4}, 1, 16), 1);     // bound to a core each
  EXPECT_EQ(threads_of({0, 2, 2}, 8, 16), 8);     // to a socket each
  EXPECT_EQ(threads_of({0, 8, 8}, 2, 2), 1);      // more ranks than cores
  EXPECT_EQ(threads_of({0, 64, 1}, 32, 32), 32);  // one for each machine
}

}  // namespace
}  // namespace attend::dist
