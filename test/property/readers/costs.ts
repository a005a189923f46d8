import { dlopen, FFIType, ptr } from "bun:ffi"
import type { Reader } from "./reader.ts"

/** The processor time of this thread in milliseconds. The runtime's own counters of a thread go in ticks of 4 ms. */
export const threadMs: () => number = process.platform === "linux" ? linuxClock() : () => process.cpuUsage().user / 1000

/** clock_gettime(2) of CLOCK_THREAD_CPUTIME_ID. */
function linuxClock(): () => number {
  const libc = dlopen("libc.so.6", { clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 } })
  const spec = new BigInt64Array(2)
  const specAt = ptr(spec)
  return () => {
    libc.symbols.clock_gettime(3, specAt)
    return Number(spec[0]) * 1e3 + Number(spec[1]) / 1e6
  }
}

/** Reads the bytes. What is thrown is the refusal of them. */
export async function readOnce({ read }: Reader, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  try {
    const reading = read(bytes)
    if (reading instanceof Promise) await reading
  } catch (refusal) {
    if (!(refusal instanceof Error)) throw refusal
  }
}

/** The processor time that the reader takes for the bytes. */
export async function costMs(reader: Reader, bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  const from = threadMs()
  await readOnce(reader, bytes)
  return threadMs() - from
}

/** The longest time for which the reader keeps the thread, as processor time. */
export async function longestPieceMs(reader: Reader, bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  let longest = 0
  let isDone = false
  let last = threadMs()
  const turn = (): void => {
    const now = threadMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await readOnce(reader, bytes)
  isDone = true
  turn()
  return longest
}
