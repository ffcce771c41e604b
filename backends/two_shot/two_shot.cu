#include "backends/peer_kernels/launch_cuda.h"
#include "kernels/two_shot.h"

template int tutti::peer_kernels::launch_on_cuda<tutti::TwoShot<>>(
    int, void*, tutti_dtype, const tutti::PeerCall<tutti::TwoShot<>::Region>&);
