import type { Clock } from "../../base/clock.ts"
import { faultCode } from "../../base/fault-code.ts"
import { jsonIn } from "../../base/json.ts"
import type { Validators } from "../../base/web.ts"
import { memberOf } from "./outside-text.ts"

/** A bootstrap as it came, and when it was last known to be the newest, in milliseconds since the Unix epoch. */
export type BootstrapCopy = {
  readonly text: string
  readonly validators: Validators
  readonly checkedAtMs: number
}

/** Where a copy is kept for the next start. Each function rejects with the system's error. */
export type BootstrapFolder = {
  /** Null: there is no such file. */
  readonly read: (name: string) => Promise<Uint8Array | null>
  /** Puts a file in place of what was there, whole. */
  readonly replace: (name: string, text: string) => Promise<void>
}

/** How copies are kept. */
export type CopyNeeds = {
  /** Where the bootstrap is; a copy from elsewhere is not read. */
  readonly url: string
  /** Null: copies are not kept. */
  readonly folder: BootstrapFolder | null
  readonly clock: Clock
  /** Is told what went wrong, in a sentence for the log. */
  readonly complain: (says: string) => void
}

const FILE = "rdap-bootstrap.json"
const FILE_BYTES_MAX = 4 * 1024 * 1024

/** The copy that is kept; null: there is none of this URL, or it cannot be read. It never rejects. */
export async function readCopy(needs: CopyNeeds): Promise<BootstrapCopy | null> {
  const bytes = await bytesIn(needs)
  if (bytes === null || bytes.byteLength > FILE_BYTES_MAX) return null
  // No JSON, as when somebody else wrote there, has no members.
  const kept = jsonIn(new TextDecoder().decode(bytes))
  const [text, checkedAtMs] = [memberOf(kept, "text"), memberOf(kept, "checked_at_ms")]
  if (memberOf(kept, "url") !== needs.url || typeof text !== "string" || typeof checkedAtMs !== "number") return null
  const validators = {
    etag: textOrNull(memberOf(kept, "etag")),
    lastModified: textOrNull(memberOf(kept, "last_modified")),
  }
  return { text, validators, checkedAtMs: Math.min(checkedAtMs, needs.clock()) }
}

async function bytesIn({ folder, complain }: CopyNeeds): Promise<Uint8Array | null> {
  try {
    return (await folder?.read(FILE)) ?? null
  } catch (error) {
    complain(`${FILE} cannot be read: ${faultCode(error)}.`)
    return null
  }
}

/** Keeps a copy in place of the one before. It never rejects. */
export async function keepCopy(
  { folder, url, complain }: CopyNeeds,
  { text, validators: { etag, lastModified }, checkedAtMs }: BootstrapCopy,
): Promise<void> {
  const kept = { url, checked_at_ms: checkedAtMs, etag, last_modified: lastModified, text }
  await folder
    ?.replace(FILE, JSON.stringify(kept))
    .catch(error => complain(`${FILE} cannot be written: ${faultCode(error)}.`))
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null)
