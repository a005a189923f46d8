/*
 * Where the executable begins. The rest of the program is loaded afterwards: a server may be started again here, and nothing
 * should be loaded twice.
 */
import "../system/freed-memory.ts"

void import("../main.ts")
