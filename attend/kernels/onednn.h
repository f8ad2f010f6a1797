// Convolution, pooling and the yardstick for products, by the name under which they were once one file.
#pragma once

#include "attend/kernels/best_product.h"
#include "attend/kernels/convolution.h"
#include "attend/kernels/pooling.h"
