#include "backends/peer_kernels/launch_cuda.h"
#include "kernels/one_shot.h"

template int tutti::peer_kernels::launch_on_cuda<tutti::OneShot<>>(
    int, void*, tutti_dtype, const tutti::PeerCall<tutti::OneShot<>::Region>&);
