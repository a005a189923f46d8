type Listener = { readonly calls: Set<() => void>; readonly stop: () => void }

const listeners = new WeakMap<AbortSignal, Listener>()

/**
 * Calls when the signal is aborted, unless what it gives is called before. A signal has one listener, however many calls wait:
 * Node warns of a leak from the eleventh.
 */
export function onAbort(signal: AbortSignal | undefined, call: () => void): () => void {
  if (signal === undefined) return () => undefined
  const { calls, stop } = listeners.get(signal) ?? listen(signal)
  const own = (): void => call() // the same function may wait twice
  calls.add(own)
  return () => {
    if (calls.delete(own) && calls.size === 0) stop()
  }
}

function listen(signal: AbortSignal): Listener {
  const calls = new Set<() => void>()
  const abort = (): void => {
    for (const call of calls) call()
  }
  const stop = (): void => {
    listeners.delete(signal)
    signal.removeEventListener("abort", abort)
  }
  const listener = { calls, stop }
  listeners.set(signal, listener)
  signal.addEventListener("abort", abort)
  return listener
}
