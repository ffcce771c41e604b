// A library that is no plugin. Expected: refused on loading, naming the missing symbol.
extern "C" __attribute__((visibility("default"))) int not_a_plugin() { return 0; }
