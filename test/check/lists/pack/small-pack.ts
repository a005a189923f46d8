import type { ListingOutcome } from "../../../../src/check/lists/listing-rules.ts"
import { openPack, type Pack } from "../../../../src/check/lists/pack/pack.ts"
import type { Listing, PackContents } from "../../../../src/check/lists/pack/pack-contents.ts"
import { HEADER_OFFSETS, headerCrc, packChecksum } from "../../../../src/check/lists/pack/pack-format.ts"
import { writePack } from "../../../../src/check/lists/pack/pack-writer.ts"
import type { SetName } from "../../../../src/check/lists/sets.ts"

/** Names with their sets; `!` before a set marks a listing that a rule dropped. */
export type SmallNames = Readonly<Record<string, readonly (SetName | `!${SetName}`)[]>>

const listingOf = (mark: SetName | `!${SetName}`): Listing => {
  const isDropped = mark.startsWith("!")
  const outcome: ListingOutcome = isDropped ? "never_list" : "kept"
  return { set: (isDropped ? mark.slice(1) : mark) as SetName, source: "here", outcome, since: null }
}

/** Contents for the writer with these names and a few words. */
export const smallContents = (names: SmallNames): PackContents => ({
  builtAt: "2026-11-20T00:00:00.000Z",
  sources: ["elsewhere", "here"],
  strengthOf: () => "strong",
  names: Object.entries(names).map(([name, marks]) => [name, marks.map(listingOf)] as const),
  words: { role: ["postmaster"], shared_inbox: ["support"], group: ["all"], region: ["uk"], person_name: ["salesse"] },
  groupDomains: ["groups.io"],
  targets: [
    { name: "gmail.com", kind: "provider" },
    { name: "stripe.com", kind: "organisation" },
  ],
})

/** The bytes of a pack of these names. */
export const smallPack = (names: SmallNames): Uint8Array<ArrayBuffer> => writePack(smallContents(names))

/** Opens bytes that must be a pack. */
export function openedPack(bytes: Uint8Array): Pack {
  const found = openPack(bytes)
  if (found.kind === "refused") throw new Error(found.message)
  return found.pack
}

/** The bytes of a pack after both checksums were recomputed in place, as a faulty writer would leave it. */
export function sealed(changed: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  changed.set(packChecksum(changed), HEADER_OFFSETS.checksum)
  new DataView(changed.buffer).setUint32(HEADER_OFFSETS.check, headerCrc(changed), true)
  return changed
}
