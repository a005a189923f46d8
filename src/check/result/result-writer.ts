import { Utf8Writer } from "../../base/utf8-writer.ts"
import type { Subject } from "../address/subject.ts"
import { type CheckOutcome, fullResultJson, type JudgedDomain, judgedMembersJson } from "./result.ts"

/** JSON that is written: octets, which the next answer overwrites, or a text. */
export type WrittenJson = Uint8Array<ArrayBuffer> | string

/** Room for a batch of a hundred results with ten times as much in each as there mostly is; what is longer is a text. */
const BUFFER_BYTES = 1_048_576

/**
 * Every answer of this process is put together here. As a text an answer takes a kilobyte of its own, which lies about until
 * it is collected, and by then none of it is in the processor's caches: under load that is a twenty-fifth of the whole.
 */
const buffer = new Utf8Writer(BUFFER_BYTES)

const encoder = new TextEncoder()

/** The full result as JSON; `requestId` must need no quoting. It is to be copied before anything else is written here. */
export function writeResult(outcome: CheckOutcome, requestId: string): WrittenJson {
  buffer.reset()
  putResult(outcome, requestId)
  return buffer.written() ?? fullResultJson(outcome, requestId)
}

/**
 * The results of a batch as JSON, in the same way, each with the batch's request id. All were checked side by side, so the
 * batch took as long as the one that took longest.
 */
export function writeBatchResult(outcomes: readonly CheckOutcome[], requestId: string): WrittenJson {
  const tookMs = outcomes.reduce((most, outcome) => Math.max(most, outcome.tookMs), 0)
  const closing = `],"took_ms":${tookMs},"request_id":"${requestId}"}`
  buffer.reset()
  buffer.text(BATCH_OPENING)
  for (const [at, outcome] of outcomes.entries()) {
    if (at > 0) buffer.text(",")
    putResult(outcome, requestId)
  }
  buffer.text(closing)
  return (
    buffer.written() ?? BATCH_OPENING + outcomes.map(outcome => fullResultJson(outcome, requestId)).join(",") + closing
  )
}

const BATCH_OPENING = '{"results":['

function putResult({ subject, judged, tookMs }: CheckOutcome, requestId: string): void {
  putInputMembers(subject)
  buffer.bytes(judgedMembersBytes(judged))
  buffer.text(String(tookMs))
  buffer.text(',"request_id":"')
  buffer.text(requestId)
  buffer.text('"}')
}

/** The members of `fullResultJson` that differ between those who ask the same of a domain. */
function putInputMembers({ kind, sent, normalized }: Subject): void {
  buffer.text('{"email":')
  if (kind === "email") buffer.jsonString(sent)
  else buffer.text("null")
  if (kind === "url") {
    buffer.text(',"url":')
    buffer.jsonString(sent)
  }
  buffer.text(',"normalized_email":')
  if (normalized === null) buffer.text("null")
  else buffer.jsonString(normalized)
}

function judgedMembersBytes(settled: JudgedDomain): Uint8Array {
  settled.jsonBytes ??= encoder.encode(judgedMembersJson(settled))
  return settled.jsonBytes
}
