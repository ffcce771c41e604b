// The program that mpirun starts for each rank of a set of workers which is an MPI world of its
// own: `tutti-worker --member MEETING PROGRAM ARGUMENT...`. It fetches from its rank what a worker
// is given, starts the program as that worker, tells the rank how it ended, and leaves when the
// rank hangs up. mpirun watches this process and not the worker, so a worker that dies does not
// take its peers with it before it is known which one died, and how.
#pragma once

namespace tutti {

// `words` are MEETING, PROGRAM and its arguments, and end with a null pointer. Returns an exit
// status: 0 after the rank has hung up, 2 when it could not be reached, with a message on stderr.
int serve_as_member(char** words);

}  // namespace tutti
