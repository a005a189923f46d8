/**
 * A DNS server for benches: it answers any name over UDP, out of a zone that is made up, after a fixed delay. It tells where
 * it listens as `dns://127.0.0.1:port`. `--delay-ms` is 20 unless it is set.
 * TXT questions steer it and are not counted: `count.bench` tells how many others came, `mute.bench` makes it hear and say
 * nothing more, `speak.bench` ends that.
 */
import { createSocket } from "node:dgram"
import { parseArgs } from "node:util"
import { answerTo, askedIn, type DnsQuery, textAnswer } from "./dns-answers.ts"

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: { "delay-ms": { type: "string", default: "20" } },
})
const delayMs = Number(values["delay-ms"])
if (!(delayMs >= 0)) throw new Error("--delay-ms is a number of milliseconds")

/** Answers that are due in the same millisecond. */
type Batch = { readonly dueMs: number; readonly answers: Due[] }
type Due = { readonly answer: Uint8Array; readonly port: number; readonly address: string }

/** The system's 208 KiB hold 277 small packets: of 500 that came at once a twentieth was lost. It gives what it may. */
const SOCKET_BYTES = 4_194_304
const batches: Batch[] = []
let count = 0
let isMute = false

const socket = createSocket("udp4", (query, { port, address }) => {
  const asked = askedIn(query)
  if (asked === null) return
  const reply = steered(asked)
  if (reply !== null) {
    socket.send(textAnswer(asked, reply), port, address)
    return
  }
  count++
  if (isMute) return
  const answer = answerTo(asked)
  if (delayMs === 0) socket.send(answer, port, address)
  else queue({ answer, port, address })
})
// A client that has closed its socket before its answer is no fault.
socket.on("error", fault => {
  if (!fault.message.includes("ECONNREFUSED")) throw fault
})
socket.bind(0, "127.0.0.1", () => {
  socket.setRecvBufferSize(SOCKET_BYTES)
  socket.setSendBufferSize(SOCKET_BYTES)
  console.log(`the DNS server listens on dns://127.0.0.1:${socket.address().port}`)
})

/** What is said to a question that steers; null: it is any other. */
function steered({ labels: [first, second, ...others], question }: DnsQuery): string | null {
  if (question.type !== "TXT" || second !== "bench" || others.length > 0) return null
  if (first === "mute") isMute = true
  else if (first === "speak") isMute = false
  else if (first !== "count") return null
  return String(count)
}

function queue(due: Due): void {
  // Timers come up to a millisecond late; from the millisecond before, answers take on average what they are to take.
  const dueMs = Math.floor(performance.now() + delayMs)
  const last = batches.at(-1)
  if (last?.dueMs === dueMs) last.answers.push(due)
  else batches.push({ dueMs, answers: [due] })
  if (batches.length === 1 && batches[0]?.answers.length === 1) wait()
}

/** One timer for all: it wakes when the next batch is due. */
function wait(): void {
  const [next] = batches
  if (next !== undefined) setTimeout(sendDue, Math.max(0, next.dueMs - performance.now()))
}

function sendDue(): void {
  const nowMs = performance.now()
  for (let next = batches[0]; next !== undefined && next.dueMs <= nowMs; next = batches[0]) {
    for (const { answer, port, address } of next.answers) socket.send(answer, port, address)
    batches.shift()
  }
  wait()
}
