import { Utf8Writer } from "../../base/utf8-writer.ts"
import { type AddressHints, NO_HINTS } from "../address/address-hints.ts"
import type { Subject } from "../address/subject.ts"
import {
  type CheckOutcome,
  encodeJson,
  fullResultJson,
  hintsJson,
  type JudgedDomain,
  type JudgedJson,
  type JudgedJsonBytes,
  judgedMembersJson,
  NO_HINTS_JSON,
} from "./result.ts"

/** JSON as bytes, which the next response overwrites, or as a text. */
export type WrittenJson = Uint8Array<ArrayBuffer> | string

/** Room for a batch of 100 results of ten times the usual length. A longer response is a text. */
const BUFFER_BYTES = 1_048_576

/**
 * The process writes every response into this one buffer. A text of its own for each response is a kilobyte of garbage that
 * pushes other data out of the processor's caches: under load that costs a twenty-fifth of the whole time.
 */
const buffer = new Utf8Writer(BUFFER_BYTES)

const encoder = new TextEncoder()

/** The full result as JSON. `requestId` must need no escaping. The caller copies the bytes before it writes another response. */
export function writeResult(outcome: CheckOutcome, requestId: string): WrittenJson {
  buffer.reset()
  putResult(outcome, requestId)
  return buffer.written() ?? fullResultJson(outcome, requestId)
}

/**
 * The results of a batch as JSON, each with the batch's request id; the rules of `writeResult` hold. All checks ran at the same
 * time, so the batch took as long as its longest check.
 */
export function writeBatchResult(outcomes: readonly CheckOutcome[], requestId: string): WrittenJson {
  const tookMs = outcomes.reduce((most, outcome) => Math.max(most, outcome.tookMs), 0)
  const closing = `],"took_ms":${tookMs},"request_id":"${requestId}"}`
  buffer.reset()
  buffer.text(BATCH_OPENING)
  for (const [index, outcome] of outcomes.entries()) {
    if (index > 0) buffer.text(",")
    putResult(outcome, requestId, itemMembersJson(outcome, index))
  }
  buffer.text(closing)
  const itemJson = (outcome: CheckOutcome, index: number): string =>
    `${fullResultJson(outcome, requestId).slice(0, -1)}${itemMembersJson(outcome, index)}}`
  return buffer.written() ?? BATCH_OPENING + outcomes.map(itemJson).join(",") + closing
}

/** What a result of a batch has besides those of a check: which item it is for, and the item itself if no domain was found in it. */
const itemMembersJson = ({ subject: { sent, domain } }: CheckOutcome, index: number): string =>
  domain !== null ? `,"index":${index}` : `,"index":${index},"input":${JSON.stringify(sent)}`

const BATCH_OPENING = '{"results":['

function putResult({ subject, hints, judged, tookMs }: CheckOutcome, requestId: string, moreMembers = ""): void {
  putInputMembers(subject)
  if (judged.shared !== null) putShared(judged.domain, judged.shared.bytes, hints)
  else if (judged.json === undefined && judged.jsonBytes === undefined) putOnce(judgedMembersJson(judged), hints)
  else putBytes(bytesOf(judged), hints)
  buffer.text(String(tookMs))
  buffer.text(',"request_id":"')
  buffer.text(requestId)
  buffer.text('"')
  buffer.text(moreMembers)
  buffer.text("}")
}

function putShared(domain: string | null, bytes: JudgedJsonBytes, hints: AddressHints): void {
  buffer.text(',"domain":')
  if (domain === null) buffer.text("null")
  else buffer.jsonString(domain)
  putBytes(bytes, hints)
}

function putBytes({ head, tail }: JudgedJsonBytes, hints: AddressHints): void {
  buffer.bytes(head)
  putHints(hints)
  buffer.bytes(tail)
}

function putOnce({ head, tail }: JudgedJson, hints: AddressHints): void {
  buffer.text(head)
  putHints(hints)
  buffer.text(tail)
}

/** Most verdicts are written once. One that is written again is worth its bytes. */
function bytesOf(judged: JudgedDomain): JudgedJsonBytes {
  judged.jsonBytes ??= encodeJson(judgedMembersJson(judged))
  delete judged.json
  return judged.jsonBytes
}

const NO_HINTS_BYTES = encoder.encode(NO_HINTS_JSON)

function putHints(hints: AddressHints): void {
  if (hints === NO_HINTS) buffer.bytes(NO_HINTS_BYTES)
  else buffer.text(hintsJson(hints))
}

/** Writes the opening brace and what `inputMembersJson` returns. */
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
