import { type LoadedLists, openLists } from "../../src/check/domain-lookup.ts"
import type { Listing } from "../../src/check/lists/pack/pack-contents.ts"
import { writePack } from "../../src/check/lists/pack/pack-writer.ts"
import { knownLists } from "../support/app.ts"
import { smallContents } from "./lists/pack/small-pack.ts"

const FROM = { trust: "high", read: 1, repeated: 0, kept: 1, dropped: {} } as const

/**
 * Lists of these names alone, by the source `here` of 20 November 2026, the source `elsewhere`, which is of no known day, and the
 * window source `abused`.
 */
export function knownSmall(names: Readonly<Record<string, readonly Listing[]>>): LoadedLists {
  const contents = { ...smallContents({}), sources: ["abused", "elsewhere", "here"], names: Object.entries(names) }
  const opened = openLists(writePack(contents), false)
  if (opened.kind === "refused") throw new Error(opened.message)
  const sources = {
    here: { ...FROM, set: "disposable", licence: "MIT", origin: "our garden", date: "2026-11-20" },
    abused: {
      ...{ ...FROM, set: "disposable", licence: "MIT", origin: "a third garden", date: "2026-11-23" },
      window_days: 180,
    },
    elsewhere: { ...FROM, set: "personal", licence: "ISC", origin: "another garden", date: "" },
  }
  return { ...knownLists, lists: opened.lists, manifest: { ...knownLists.manifest, sources } }
}
