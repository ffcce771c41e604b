// MPI's names of the ABI's dtypes and ops.
#pragma once

#include <mpi.h>

#include "backends/backend.h"

namespace tutti::open_mpi {

// MPI_DATATYPE_NULL for what MPI has not: fp16, bf16 and fp8.
inline MPI_Datatype datatype_of(tutti_dtype dtype) {
  switch (dtype) {
    case TUTTI_INT8:
      return MPI_INT8_T;
    case TUTTI_UINT8:
      return MPI_UINT8_T;
    case TUTTI_INT32:
      return MPI_INT32_T;
    case TUTTI_UINT32:
      return MPI_UINT32_T;
    case TUTTI_INT64:
      return MPI_INT64_T;
    case TUTTI_UINT64:
      return MPI_UINT64_T;
    case TUTTI_FLOAT32:
      return MPI_FLOAT;
    case TUTTI_FLOAT64:
      return MPI_DOUBLE;
    default:
      return MPI_DATATYPE_NULL;
  }
}

// MPI_OP_NULL for avg.
inline MPI_Op operation_of(tutti_op op) {
  switch (op) {
    case TUTTI_SUM:
      return MPI_SUM;
    case TUTTI_PROD:
      return MPI_PROD;
    case TUTTI_MIN:
      return MPI_MIN;
    case TUTTI_MAX:
      return MPI_MAX;
    default:
      return MPI_OP_NULL;
  }
}

}  // namespace tutti::open_mpi
