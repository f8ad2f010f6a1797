// All ops.
#pragma once

#include "attend/autograd/ops/attention.h"
#include "attend/autograd/ops/convolution.h"
#include "attend/autograd/ops/copy.h"
#include "attend/autograd/ops/crf.h"
#include "attend/autograd/ops/ctc.h"
#include "attend/autograd/ops/elementwise.h"
#include "attend/autograd/ops/glimpse.h"
#include "attend/autograd/ops/matrix.h"
#include "attend/autograd/ops/recurrent.h"
#include "attend/autograd/ops/rows.h"
#include "attend/autograd/ops/shape.h"
#include "attend/autograd/ops/span.h"
#include "attend/autograd/tape.h"
