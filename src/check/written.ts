import { OctetWriter } from "../base/octet-writer.ts"
import type { Subject } from "./address/subject.ts"
import { fullText, membersText, type Outcome, type Settled } from "./present.ts"

/** JSON that is written: octets, which the next answer overwrites, or a text. */
export type Written = Uint8Array<ArrayBuffer> | string

/** Room for a batch of a hundred results with ten times as much in each as there mostly is; what is longer is a text. */
const ROOM_OCTETS = 1_048_576

/**
 * Every answer of this process is put together here. As a text an answer takes a kilobyte of its own, which lies about until
 * it is collected, and by then none of it is in the processor's caches: under load that is a twenty-fifth of the whole.
 */
const to = new OctetWriter(ROOM_OCTETS)

const encoder = new TextEncoder()

/** The full result as JSON; `requestId` must need no quoting. It is to be copied before anything else is written here. */
export function writtenResult(outcome: Outcome, requestId: string): Written {
  to.begin()
  putResult(outcome, requestId)
  return to.written() ?? fullText(outcome, requestId)
}

/**
 * The results of a batch as JSON, in the same way, each with the batch's request id. All were checked side by side, so the
 * batch took as long as the one that took longest.
 */
export function writtenBatch(outcomes: readonly Outcome[], requestId: string): Written {
  const tookMs = outcomes.reduce((most, outcome) => Math.max(most, outcome.tookMs), 0)
  const closing = `],"took_ms":${tookMs},"request_id":"${requestId}"}`
  to.begin()
  to.text(BATCH_OPENING)
  for (const [at, outcome] of outcomes.entries()) {
    if (at > 0) to.text(",")
    putResult(outcome, requestId)
  }
  to.text(closing)
  return to.written() ?? BATCH_OPENING + outcomes.map(outcome => fullText(outcome, requestId)).join(",") + closing
}

const BATCH_OPENING = '{"results":['

function putResult({ subject, settled, tookMs }: Outcome, requestId: string): void {
  putNames(subject)
  to.octets(membersOctets(settled))
  to.text(String(tookMs))
  to.text(',"request_id":"')
  to.text(requestId)
  to.text('"}')
}

/** The members of `fullText` that differ between those who ask the same of a domain. */
function putNames({ kind, sent, normalized }: Subject): void {
  to.text('{"email":')
  if (kind === "email") to.json(sent)
  else to.text("null")
  if (kind === "url") {
    to.text(',"url":')
    to.json(sent)
  }
  to.text(',"normalized_email":')
  if (normalized === null) to.text("null")
  else to.json(normalized)
}

function membersOctets(settled: Settled): Uint8Array {
  settled.octets ??= encoder.encode(membersText(settled))
  return settled.octets
}
