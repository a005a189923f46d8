import { isCurated, parseCatalogue } from "../check/lists/catalogue.ts"
import { EXTRACTS, sectionOf } from "./extracts.ts"
import { type Inventory, nameAndVersion, type ShippedPackage, type ShippedSource, type Use } from "./inventory.ts"
import { chosenLicences } from "./licence-policy.ts"
import { standardText, Texts, textsIn } from "./licence-texts.ts"
import { closure, type Lock, type LockedPackage, needsOf, readLock } from "./lock-file.ts"
import type { SupplyShelf } from "./supply-shelf.ts"

/** The package whose script the API reference runs in browsers. All that it needs is in that script. */
const PAGES = ["@scalar/api-reference"]

/** The licences of Bun and of what it is linked with, as its own documentation names them. */
const RUNTIME = {
  licence: "MIT AND LGPL-2.0-or-later AND LGPL-2.1-or-later",
  origin: "https://github.com/oven-sh/bun",
  texts: [
    "node_modules/bun-types/docs/project/license.mdx",
    "data/licences/LGPL-2.0.txt",
    "data/licences/LGPL-2.1.txt",
  ],
} as const

/** What was found, or everything that keeps it from being passed on, a sentence each. */
export type Taken =
  | { readonly kind: "inventory"; readonly inventory: Inventory }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

/** What is read of a package.json. */
type Own = {
  readonly version?: string
  readonly license?: string | { readonly type?: string }
  readonly author?: string | { readonly name?: string }
  readonly repository?: string | { readonly url?: string }
}

/**
 * Takes stock of a checkout: the packages that are in the program by the lock file, as they lie in node_modules, the sources of
 * the lists and the runtime. The same checkout gives the same inventory. A licence that the policy does not allow, a package
 * without a text, and one that is not the locked one are faults.
 */
export function takeInventory(shelf: SupplyShelf): Taken {
  const read = readLock(shelf.read("bun.lock"))
  if (read.kind === "refused") return read
  const catalogue = parseCatalogue(shelf.read("data/catalogue.json"))
  if (catalogue.kind === "refused") return catalogue
  const { lock } = read
  const [texts, faults] = [new Texts(), [] as string[]]
  const own = JSON.parse(shelf.read("package.json"))
  const manifest = JSON.parse(shelf.read("data/manifest.json"))
  const carried = [...new Set(catalogue.sources.flatMap(({ from }) => from.package ?? []))]
  const packages = shipped(lock, carried).map(([locked, use]) => packageOf({ shelf, lock, texts, faults }, locked, use))
  const ownTexts = textsIn(shelf, ".").map(text => texts.indexOf(text))
  const listed = catalogue.sources.map((row): ShippedSource => {
    const { id, from } = row
    const { set, licence, origin, date } = manifest.sources[id]
    const stands = packages.find(({ name }) => name === from.package)
    const says = `Names for the set ${set}.`
    const where = stands === undefined ? "" : nameAndVersion(stands)
    const own = isCurated(row) ? ownTexts : []
    return { ...{ id, says, licence, origin, version: date, package: where, sha256: "" }, texts: stands?.texts ?? own }
  })
  const sources = [...listed, ...extracts(shelf, texts, faults)].sort(byId)
  for (const { id, licence } of sources) if (chosenLicences(licence) === null) faults.push(notAllowed(id, licence))
  if (chosenLicences(RUNTIME.licence, true) === null) faults.push(notAllowed("bun", RUNTIME.licence))
  const inventory: Inventory = {
    ...{ name: own.name, version: own.version, licence: own.license, says: own.description },
    texts: ownTexts,
    runtime: {
      ...{ name: "bun", version: own.packageManager.replace(/^bun@/, "") },
      ...RUNTIME,
      texts: RUNTIME.texts.map(path => texts.indexOf(shelf.read(path).trim())),
    },
    packages,
    sources,
    roots: packages.filter(({ name, use }) => isRoot(lock, name, use)).map(nameAndVersion),
    lists: { version: manifest.version, sha256: manifest.pack.sha256 },
    allTexts: texts.all(),
  }
  return faults.length > 0 ? { kind: "refused", faults } : { kind: "inventory", inventory }
}

const isRoot = (lock: Lock, name: string, use: Use): boolean =>
  use === "lists" || PAGES.includes(name) || lock.dependencies.includes(name)

/** Every package that is in the program and why, by name: what runs in the server before what runs in browsers. */
function shipped(lock: Lock, carried: readonly string[]): readonly (readonly [LockedPackage, Use])[] {
  const use = new Map<string, readonly [LockedPackage, Use]>()
  const add = (packages: Iterable<LockedPackage>, why: Use): void => {
    for (const locked of packages) if (!use.has(nameAndVersion(locked))) use.set(nameAndVersion(locked), [locked, why])
  }
  add(closure(lock, lock.dependencies), "server")
  add(closure(lock, PAGES), "pages")
  // Of these only lists are read; what their code needs is not in the program.
  add(
    [...closure(lock, carried)].filter(({ place }) => place.length === 1 && carried.includes(place[0] ?? "")),
    "lists",
  )
  return [...use.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, found]) => found)
}

type Taking = {
  readonly shelf: SupplyShelf
  readonly lock: Lock
  readonly texts: Texts
  readonly faults: string[]
}

function packageOf({ shelf, lock, texts, faults }: Taking, locked: LockedPackage, use: Use): ShippedPackage {
  const folder = `node_modules/${locked.place.join("/node_modules/")}`
  const isThere = shelf.exists(`${folder}/package.json`)
  const own: Own = isThere ? JSON.parse(shelf.read(`${folder}/package.json`)) : {}
  const { name, version, sha512 } = locked
  if (own.version !== version) faults.push(`${nameAndVersion(locked)}: ${own.version ?? "nothing"} is installed.`)
  const licence = (typeof own.license === "string" ? own.license : own.license?.type) ?? ""
  const chosen = chosenLicences(licence)
  if (chosen === null) faults.push(notAllowed(nameAndVersion(locked), licence))
  const brought = isThere ? textsIn(shelf, folder) : []
  const standard = brought.length > 0 ? null : standardText(shelf, licence, holderOf(name, own))
  if (brought.length === 0 && standard === null) faults.push(`${nameAndVersion(locked)}: it brings no licence text.`)
  return {
    ...{ name, version, licence, chosen: [...(chosen ?? [])], origin: originOf(own), sha512, use },
    needs: use === "lists" ? [] : [...new Set(needsOf(lock, locked).map(nameAndVersion))].sort(),
    texts: [...brought, ...(standard === null ? [] : [standard])].map(text => texts.indexOf(text)),
  }
}

const notAllowed = (what: string, licence: string): string =>
  `${what}: the licence ${licence === "" ? "is not named" : `\`${licence}\` is not allowed`} (src/supply/licence-policy.ts).`

function holderOf(name: string, { author }: Own): string {
  const written = typeof author === "string" ? author.replace(/\s*[<(].*$/, "") : author?.name
  return written === undefined || written === "" ? `the authors of ${name}` : written
}

/** Where people find the package; what npm writes in short is written out. */
function originOf({ repository }: Own): string {
  const written = (typeof repository === "string" ? repository : repository?.url) ?? ""
  const bare = written.replace(/^git\+/, "").replace(/^(?:git|ssh):\/\/(?:git@)?/, "https://")
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(bare)?.[1]
  const url =
    short === undefined ? bare.replace(/^git@github\.com:/, "https://github.com/") : `https://github.com/${short}`
  return /^https?:\/\/\S+$/.test(url) ? url.replace(/^http:/, "https:").replace(/\.git$/, "") : ""
}

function extracts(shelf: SupplyShelf, texts: Texts, faults: string[]): readonly ShippedSource[] {
  const notices = shelf.read("data/NOTICE.md")
  return Object.entries(EXTRACTS).map(([file, extract]) => {
    const notice = sectionOf(notices, file)
    if (notice === null) faults.push(`data/${file}: data/NOTICE.md has no section of that name.`)
    const sha256 = new Bun.CryptoHasher("sha256").update(shelf.read(`data/${file}`)).digest("hex")
    return { id: file, ...extract, package: "", sha256, texts: notice === null ? [] : [texts.indexOf(notice)] }
  })
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)
