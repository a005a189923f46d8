import { redactLines } from "../../base/address-redaction.ts"
import { fingerprint } from "../../base/fingerprint.ts"
import { hasAtMostCharacters, trimSpace } from "../../base/text.ts"
import { LIMITS } from "../../contract/limits.ts"
import { recordAct } from "../audit/audit.ts"
import type { AttributedLog } from "../store/change-log/change-log.ts"
import type { Store } from "../store/core/store.ts"

/** What administrators noted about an account. Empty: nothing. Its owner sees it in the export of the account. */
export async function readOperatorNote(store: Store, accountId: string): Promise<string> {
  const row = await store.one<{ readonly note: string | null }>(
    "SELECT operator_note AS note FROM accounts WHERE id = $1",
    [accountId],
  )
  return row?.note ?? ""
}

/** Tells whether a note is still the one that was seen. */
export const noteFingerprint = (note: string): string => fingerprint(note)

/** The result of changing a note. `changed_meanwhile`: it is no longer the one that was seen; nothing was written. */
export type NoteChange =
  | { readonly kind: "changed" }
  | { readonly kind: "too_long" }
  | { readonly kind: "changed_meanwhile"; readonly note: string }
  | { readonly kind: "unknown_account" }

/** Replaces a note, without addresses, unless another administrator changed it since the one with the fingerprint `seen` was displayed. */
export async function changeOperatorNote(
  log: AttributedLog,
  accountId: string,
  { note: written, seen }: { readonly note: string; readonly seen: string },
): Promise<NoteChange> {
  if (!hasAtMostCharacters(written, LIMITS.operatorNoteLengthMax)) return { kind: "too_long" }
  const note = redactLines(trimSpace(written))
  return await log.store.transaction(async (inner): Promise<NoteChange> => {
    // A write without effect locks the row, so that the later of two changes sees the other.
    const row = await inner.one<{ readonly note: string | null }>(
      "UPDATE accounts SET operator_note = operator_note WHERE id = $1 RETURNING operator_note AS note",
      [accountId],
    )
    if (row === null) return { kind: "unknown_account" }
    const stored = row.note ?? ""
    if (stored === note) return { kind: "changed" }
    if (noteFingerprint(stored) !== seen) return { kind: "changed_meanwhile", note: stored }
    await inner.run("UPDATE accounts SET operator_note = $2 WHERE id = $1", [accountId, note === "" ? null : note])
    await recordAct(log, inner, { kind: "note_changed", accountId, details: "" })
    return { kind: "changed" }
  })
}
