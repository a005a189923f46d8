import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { withListsFolder } from "../../../src/assemble/check/lists-folder.ts"
import { takeSharedLists } from "../../../src/assemble/check/shared-lists.ts"
import { createContext } from "../../../src/assemble/context.ts"
import { openListsForCommand, readRefreshState } from "../../../src/check/active-lists/lists-in-place.ts"
import { formatManifest } from "../../../src/check/lists/manifest.ts"
import { openPack } from "../../../src/check/lists/pack/pack.ts"
import { refresh } from "../../../src/check/refresh/refresh.ts"
import { type RefreshFolder, STATE_FILE } from "../../../src/check/refresh/refresh-state.ts"
import { parseSettings } from "../../../src/config/settings.ts"
import { readClock } from "../../../src/customers/store/core/store.ts"
import type { BundledFileName } from "../../../src/system/files.ts"
import { createSystem } from "../../../src/system/system.ts"
import { smallPack } from "../../check/lists/pack/small-pack.ts"
import { FIRST_NAMES, refreshFixture } from "../../check/refresh/refresh-fixture.ts"
import { engineNow } from "../../customers/engines.ts"
import { tempPlace, tempStore } from "../../customers/temp-store.ts"
import { knownLists } from "../../support/app.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { outcomeOf } from "../../support/outcome-of.ts"

/** The ids of the source bundles of two versions of the program. */
export const VERSIONS = { one: "1".repeat(64), two: "2".repeat(64) } as const

/** Nodes that share a PostgreSQL database, each with a data directory of its own, and sources on this machine. With SQLite each is a host of its own. */
export async function sharedNodes() {
  const place = tempPlace()
  const store = await tempStore(place)
  const sources = refreshFixture()
  for (const id of ["fresh", "offices"]) sources.serve(id, id === "fresh" ? FIRST_NAMES : ["nasa.gov", "weather.gov"])
  const node = (settings: Readonly<Record<string, string>> = {}, version: string = VERSIONS.one) => {
    const directory = mkdtempSync(join(tmpdir(), "mailkind-node-"))
    onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
    const lines: string[] = []
    const context = createContext(
      { ...programOf(version), writeStderr: text => void lines.push(text) },
      nodeSettings({
        ...{ MAILKIND_DATA_DIR: directory, ...settings },
        ...(engineNow() === "sqlite" ? {} : { MAILKIND_DATABASE_URL: place }),
      }),
    )
    return {
      context,
      directory,
      folder: context.system.files.folder(join(directory, "lists", "refresh")),
      log: (): readonly Record<string, unknown>[] =>
        lines.flatMap(text => text.split("\n").filter(Boolean)).map(line => JSON.parse(line)),
      /** Takes what is in force `laterMs` from now. */
      take: async (laterMs = 0) =>
        await takeSharedLists(context, store, {
          nowMs: ((await readClock(store)) ?? 0) + laterMs,
          removesUnused: true,
        }),
      state: () => readRefreshState(context),
      /** The version of the lists that a server of the node uses, and whether a name is disposable by them. */
      version: async () => (await openListsForCommand(context)).lists.pack.version,
      lists: async (name: string) => {
        const { lists } = await openListsForCommand(context)
        return lists.lookupDomain(name, name).listMatch.sets.includes("disposable")
      },
      /** Refreshes as this node, from sources of which one has only these names. */
      refresh: async (...names: readonly string[]) => {
        sources.serve("extra", names)
        const done = await withListsFolder(context, lists => refresh({ ...sources.needs, ...lists }, null))
        if (typeof done === "string") throw new Error(done)
        return done
      },
      /** Refreshes, but the process dies when all files are written and the state is not. */
      dieBeforeState: async (...names: readonly string[]) => {
        sources.serve("extra", names)
        const writeAtomic = async (folder: RefreshFolder, name: string, bytes: Uint8Array | string) => {
          if (name === STATE_FILE) throw new Error("the process is dead")
          await folder.writeAtomic(name, bytes)
        }
        const dying = withListsFolder(context, lists => {
          const folder = { ...lists.folder, writeAtomic: writeAtomic.bind(null, lists.folder) }
          return refresh({ ...sources.needs, ...lists, folder }, null)
        })
        await outcomeOf(dying)
      },
    }
  }
  return { place, store, sources, node }
}

/** A system whose program is of a version, which has built-in lists of its own. */
export function programOf(version: string) {
  const world = createSystem()
  const pack = smallPack({ [`built-in-${version[0]}.com`]: ["disposable"] })
  const opened = openPack(pack)
  if (opened.kind === "refused") throw new Error(opened.message)
  const manifest = formatManifest({
    ...knownLists.manifest,
    version: opened.pack.version,
    pack: { bytes: pack.length, sha256: version },
  })
  const bundled = (name: BundledFileName): Blob | null => {
    if (name === "lists.pack") return new Blob([pack])
    return name === "manifest.json.asset" ? new Blob([manifest]) : world.files.bundled(name)
  }
  return { ...world, files: { ...world.files, bundled } }
}

export function nodeSettings(texts: Readonly<Record<string, string>>) {
  const read = parseSettings({ MAILKIND_LISTS_REFRESH_HOURS: "off", ...texts })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  return read.settings
}
