/** Below the ports that systems give to whoever asks for any, so that nobody gets one of them by chance. */
const FIRST = 15_000
const COUNT = 15_000

/**
 * A port of loopback that nobody listens on. It stays free until it is used: it is drawn from many, and the system gives none of
 * these away.
 */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => undefined } }).stop(true)
      return port
    } catch (fault) {
      if (!(fault instanceof Error && "code" in fault && fault.code === "EADDRINUSE")) throw fault
    }
  }
}
