import { Utf8Writer } from "../../base/utf8-writer.ts"
import { NO_HINTS } from "../address/address-hints.ts"
import {
  batchPart,
  batchResult,
  type CheckOutcome,
  encodeText,
  fullResultJson,
  hintMembers,
  inputPart,
  itemPart,
  type JudgedDomain,
  judgedText,
  mailboxPart,
  runPart,
} from "./result.ts"

/** JSON as bytes, which the next response overwrites, or as a text. */
export type WrittenJson = Uint8Array<ArrayBuffer> | string

/** Room for a batch of 100 results of ten times the usual length. A longer response is a text. */
const BUFFER_BYTES = 1_048_576

/**
 * The process writes every response into this one buffer. A text of its own for each response is garbage: a batch of 100 takes a fifth to
 * a half more of the processor with it.
 */
const buffer = new Utf8Writer(BUFFER_BYTES)

/** The full result as JSON. The caller copies the bytes before it writes another response. */
export function writeResult(outcome: CheckOutcome, requestId: string): WrittenJson {
  buffer.reset()
  putMembers(outcome, requestId)
  buffer.text("}")
  return buffer.written() ?? fullResultJson(outcome, requestId)
}

/** The results of a batch as JSON; the rule of `writeResult` holds. */
export function writeBatchResult(outcomes: readonly CheckOutcome[], requestId: string): WrittenJson {
  buffer.reset()
  buffer.text('{"results":[')
  for (const [index, outcome] of outcomes.entries()) {
    if (index > 0) buffer.text(",")
    putMembers(outcome, requestId)
    buffer.text(",")
    putFlat(itemPart(outcome, index))
    buffer.text("}")
  }
  buffer.text("],")
  putFlat(batchPart(outcomes, requestId))
  buffer.text("}")
  return buffer.written() ?? JSON.stringify(batchResult(outcomes, requestId))
}

/** Writes what `fullResultJson` gives, but for the brace at its end. */
function putMembers(outcome: CheckOutcome, requestId: string): void {
  const { subject, hints, judged } = outcome
  buffer.text("{")
  putFlat(inputPart(subject, judged.domain))
  buffer.text(",")
  putFlat(mailboxPart(subject, judged))
  buffer.text(",")
  const bytes = bytesOf(judged)
  put(bytes?.verdict ?? judgedText(judged).verdict)
  buffer.text(",")
  put(hints === NO_HINTS ? NO_HINT_BYTES : hintMembers(hints))
  buffer.text(",")
  put(bytes?.evidence ?? judgedText(judged).evidence)
  buffer.text(",")
  putFlat(runPart(outcome, requestId))
}

const NO_HINT_BYTES = new TextEncoder().encode(hintMembers(NO_HINTS))

/** Null: the verdict is written for the first time, and mostly the last. One that is written again is worth its bytes. */
function bytesOf(judged: JudgedDomain) {
  if (judged.shared !== null) return judged.shared.bytes
  if (judged.bytes === undefined && judged.text === undefined) return null
  judged.bytes ??= encodeText(judgedText(judged))
  delete judged.text
  return judged.bytes
}

function put(text: string | Uint8Array): void {
  if (typeof text === "string") buffer.text(text)
  else buffer.bytes(text)
}

/** Writes what `jsonMembers` gives for members whose values are no objects, in half of its time. */
function putFlat(members: Readonly<Record<string, string | number | boolean | null>>): void {
  let before = '"'
  for (const name in members) {
    const value = members[name]
    buffer.text(before)
    buffer.text(name)
    buffer.text('":')
    if (typeof value === "string") buffer.jsonString(value)
    else buffer.text(String(value))
    before = ',"'
  }
}
