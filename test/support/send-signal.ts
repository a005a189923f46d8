/** Sends a signal to a process. Throws where that would reach the test's own group, as with an id that was not found. */
export function sendSignal(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || !Number.isSafeInteger(pid) || pid <= 1) throw new Error(`there is no process ${pid}`)
  process.kill(pid, signal)
}
