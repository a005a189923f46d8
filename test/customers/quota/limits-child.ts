import { rateSubject } from "../../../src/customers/quota/rate/rate-subject.ts"
import { createSharedLimits } from "../../../src/customers/quota/shared-limits.ts"

// A worker without its HTTP: `limits-child.ts PATH SEAT TASK TIMES` maps the memory that is the file at PATH and asks the
// limits as often as it can, a few thousand requests at most ahead of its like. The last 64 bytes of the file are the
// test's own:
//
//     | inside at this moment | most who were inside | parts that seat 0 has done | parts that seat 1 has done | (int32 each)

const [path = "", slot = "", task = "", times = ""] = process.argv.slice(2)
const memory = Bun.mmap(path)
const board = new Int32Array(memory.buffer, memory.byteLength - 64, 16)
const limits = createSharedLimits(memory.subarray(0, -64), Number(slot), () => Date.UTC(2026, 0, 1))
const [own, other] = slot === "0" ? [2, 3] : [3, 2]
const PARTS = 64

/** Does it so many times in so many parts; each part begins when the other process has begun it too. */
function together(work: (at: number) => void): void {
  for (let part = 0; part < PARTS; part++) {
    Atomics.add(board, own, 1)
    while (Atomics.load(board, other) <= part);
    for (let at = 0; at < Number(times) / PARTS; at++) work(at)
  }
}

if (task === "rates") {
  // Two callers in turn, and callers of its own in between, so that slots are claimed while others change.
  const admitted = [0, 0]
  let strangersCount = 0
  together(at => {
    const caller = at % 2
    if (limits.rates.admit(rateSubject("caller", `caller ${caller}`), { perSecond: 1, burst: 100_000 }).waitS === 0)
      admitted[caller] = (admitted[caller] ?? 0) + 1
    if (at % 16 === 0)
      limits.rates.admit(rateSubject("caller", `${slot} ${strangersCount++}`), { perSecond: 1, burst: 1 })
  })
  console.log(admitted.join(" "))
}

if (task === "first_requests") {
  // Callers that are new to both processes at the same moment.
  let admittedCount = 0
  let callersCount = 0
  together(() => {
    for (let again = 0; again < 2; again++)
      if (limits.rates.admit(rateSubject("caller", `caller ${callersCount}`), { perSecond: 1, burst: 1 }).waitS === 0)
        admittedCount++
    callersCount++
  })
  console.log(admittedCount)
}

if (task === "in_flight") {
  let entered = 0
  const max = 1
  together(() => {
    if (!limits.inFlight.tryAcquire("a", max)) return
    entered++
    const inside = Atomics.add(board, 0, 1) + 1
    if (inside > max) Atomics.store(board, 1, inside)
    Atomics.sub(board, 0, 1)
    limits.inFlight.release("a")
  })
  console.log(entered)
}

if (task === "die") {
  for (let at = 0; at < Number(times); at++) limits.inFlight.tryAcquire("a", 1000)
  process.kill(process.pid, "SIGKILL")
}
