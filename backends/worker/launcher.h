// The program between the first rank of a set of workers and the mpirun that starts them:
// `tutti-worker --launch FOLDER PROGRAM ARGUMENT...`. It adopts and reaps what mpirun leaves
// behind, which are those of its processes that end while it ends others: so when it has ended, all
// have, and it removes FOLDER with what they had there: the rank may be dead.
#pragma once

namespace tutti {

// The exit status of a child that could not become its program, as shells give it.
inline constexpr int kNotExecuted = 127;

// What the name of FOLDER begins with, so that nothing else is removed.
inline constexpr const char* kLauncherFolder = "tutti-mpirun-";

// `words` are FOLDER, PROGRAM, by its path, and its arguments, and end with a null pointer. SIGTERM
// is passed on; it comes also when the rank dies. Returns, when no process is left, the exit status
// of the program; a signal that ended it ends this process, too.
int serve_as_launcher(char** words);

}  // namespace tutti
