#include "kernels/one_shot.h"

#include "backends/peer_kernels/launch_cuda.h"

template int tutti::peer_kernels::launch_on_cuda<tutti::OneShot<>>(
    int, void*, tutti_dtype, tutti_op, const tutti::PeerCall<tutti::OneShot<>::Region>&);
