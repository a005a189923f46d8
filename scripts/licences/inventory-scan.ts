import { isCurated, parseCatalogue } from "../../src/check/lists/sources/catalogue.ts"
import {
  type Inventory,
  LICENCES,
  type LicenceTerms,
  type PackageUse,
  packageId,
  type ShippedPackage,
  type ShippedSource,
} from "../../src/licences/inventory.ts"
import {
  dependencyClosure,
  installedDependencies,
  type LockedPackage,
  type LockFile,
  parseLockFile,
} from "./lock-file.ts"

/** The package whose script proves work in browsers. The script contains its dependencies. */
const BROWSER_PACKAGES = ["altcha"]

/** The licences of Bun and of the libraries linked into it, according to its documentation. */
const RUNTIME = {
  licence: "MIT AND LGPL-2.0-or-later AND LGPL-2.1-or-later",
  origin: "https://github.com/oven-sh/bun",
  texts: [
    "node_modules/bun-types/docs/project/license.mdx",
    "data/licences/LGPL-2.0.txt",
    "data/licences/LGPL-2.1.txt",
  ],
} as const

/** The inventory, or a sentence for each reason why the program must not be distributed. */
type InventoryScan =
  | { readonly kind: "inventory"; readonly inventory: Inventory }
  | { readonly kind: "refused"; readonly faults: readonly string[] }

/** The members of package.json that are read. */
type PackageJson = {
  readonly version?: string
  readonly license?: string | { readonly type?: string }
  readonly author?: string | { readonly name?: string }
  readonly repository?: string | { readonly url?: string }
}

/**
 * Collects the inventory of a checkout: the packages of the lock file as installed in node_modules, the sources of the lists, and
 * the runtime. The same checkout gives the same inventory. A licence that the policy does not allow, a package without a licence
 * text, and an installed version other than the locked one are faults.
 */
export function scanInventory(repo: RepoFiles): InventoryScan {
  const read = parseLockFile(repo.read("bun.lock"))
  if (read.kind === "refused") return read
  const catalogue = parseCatalogue(repo.read("data/catalogue.json"))
  if (catalogue.kind === "refused") return catalogue
  const { lock } = read
  const [texts, faults] = [new TextTable(), [] as string[]]
  const own = JSON.parse(repo.read("package.json"))
  const manifest = JSON.parse(repo.read("data/manifest.json"))
  const carried = [...new Set(catalogue.sources.flatMap(({ from }) => from.package ?? []))]
  const packages = shippedPackages(lock, carried).map(([locked, use]) =>
    scanPackage({ repo, lock, texts, faults }, locked, use),
  )
  const ownTexts = readLicenceTexts(repo, ".").map(text => texts.indexOf(text))
  const listed = catalogue.sources.map((row): ShippedSource => {
    const { id, from } = row
    const { set, licence, origin, date } = manifest.sources[id]
    const stands = packages.find(({ name }) => name === from.package)
    const says = `Names for the set ${set}.`
    const where = stands === undefined ? "" : packageId(stands)
    const own = isCurated(row) ? ownTexts : []
    return { ...{ id, says, licence, origin, version: date, package: where, sha256: "" }, texts: stands?.texts ?? own }
  })
  const sources = [...listed, ...thirdPartySources(repo, texts, faults)].sort(compareIds)
  for (const { id, licence } of sources)
    if (allowedLicences(licence) === null) faults.push(disallowedLicence(id, licence))
  const inventory: Inventory = {
    ...{ name: own.name, version: own.version, licence: own.license, says: own.description },
    texts: ownTexts,
    runtime: {
      ...{ name: "bun", version: own.packageManager.replace(/^bun@/, "") },
      ...RUNTIME,
      texts: RUNTIME.texts.map(path => texts.indexOf(repo.read(path).trim())),
    },
    packages,
    sources,
    roots: packages.filter(({ name, use }) => isRoot(lock, name, use)).map(packageId),
    lists: { version: manifest.version, sha256: manifest.pack.sha256 },
    allTexts: texts.all(),
  }
  return faults.length > 0 ? { kind: "refused", faults } : { kind: "inventory", inventory }
}

const isRoot = (lock: LockFile, name: string, use: PackageUse): boolean =>
  use === "lists" || BROWSER_PACKAGES.includes(name) || lock.dependencies.includes(name)

/** Every package in the program and its use, sorted by name. A package used in the server and in browsers counts for the server. */
function shippedPackages(
  lock: LockFile,
  carried: readonly string[],
): readonly (readonly [LockedPackage, PackageUse])[] {
  const use = new Map<string, readonly [LockedPackage, PackageUse]>()
  const add = (packages: Iterable<LockedPackage>, why: PackageUse): void => {
    for (const locked of packages) if (!use.has(packageId(locked))) use.set(packageId(locked), [locked, why])
  }
  add(dependencyClosure(lock, lock.dependencies), "server")
  add(dependencyClosure(lock, BROWSER_PACKAGES), "pages")
  // Only lists are read from these packages, so their dependencies are not in the program.
  add(
    [...dependencyClosure(lock, carried)].filter(
      ({ nesting }) => nesting.length === 1 && carried.includes(nesting[0] ?? ""),
    ),
    "lists",
  )
  return [...use.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, found]) => found)
}

type PackageScanDeps = {
  readonly repo: RepoFiles
  readonly lock: LockFile
  readonly texts: TextTable
  readonly faults: string[]
}

function scanPackage(
  { repo, lock, texts, faults }: PackageScanDeps,
  locked: LockedPackage,
  use: PackageUse,
): ShippedPackage {
  const folder = `node_modules/${locked.nesting.join("/node_modules/")}`
  const isThere = repo.exists(`${folder}/package.json`)
  const own: PackageJson = isThere ? JSON.parse(repo.read(`${folder}/package.json`)) : {}
  const { name, version, sha512 } = locked
  if (own.version !== version) faults.push(`${packageId(locked)}: ${own.version ?? "nothing"} is installed.`)
  const licence = (typeof own.license === "string" ? own.license : own.license?.type) ?? ""
  const chosen = allowedLicences(licence)
  if (chosen === null) faults.push(disallowedLicence(packageId(locked), licence))
  const brought = isThere ? readLicenceTexts(repo, folder) : []
  const standard = brought.length > 0 ? null : standardLicenceText(repo, licence, copyrightHolder(name, own))
  if (brought.length === 0 && standard === null) faults.push(`${packageId(locked)}: it brings no licence text.`)
  return {
    ...{ name, version, licence, chosen: [...(chosen ?? [])], origin: repositoryUrl(own), sha512, use },
    needs: use === "lists" ? [] : [...new Set(installedDependencies(lock, locked).map(packageId))].sort(),
    texts: [...brought, ...(standard === null ? [] : [standard])].map(text => texts.indexOf(text)),
  }
}

const disallowedLicence = (what: string, licence: string): string =>
  `${what}: the licence ${licence === "" ? "is not named" : `\`${licence}\` is not allowed`} (src/licences/inventory.ts).`

/** The first alternative of licences that are all allowed; null: none is. An expression with parentheses in it is not read, and so is not allowed. */
export function allowedLicences(expression: string): readonly string[] | null {
  const alternatives = expression
    .replace(/^\(([^()]*)\)$/, "$1")
    .split(" OR ")
    .map(text => text.split(" AND "))
  return alternatives.find(ids => ids.every(isAllowed)) ?? null
}

const isAllowed = (id: string): boolean =>
  Object.entries<LicenceTerms>(LICENCES).some(([known, { runtimeOnly = false }]) => known === id && !runtimeOnly)

function copyrightHolder(name: string, { author }: PackageJson): string {
  const written = typeof author === "string" ? author.replace(/\s*[<(].*$/, "") : author?.name
  return written === undefined || written === "" ? `the authors of ${name}` : written
}

/** The URL of the repository, with npm's abbreviations expanded. */
function repositoryUrl({ repository }: PackageJson): string {
  const written = (typeof repository === "string" ? repository : repository?.url) ?? ""
  const bare = written.replace(/^git\+/, "").replace(/^(?:git|ssh):\/\/(?:git@)?/, "https://")
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(bare)?.[1]
  const url =
    short === undefined ? bare.replace(/^git@github\.com:/, "https://github.com/") : `https://github.com/${short}`
  return /^https?:\/\/\S+$/.test(url) ? url.replace(/^http:/, "https:").replace(/\.git$/, "") : ""
}

function thirdPartySources(shelf: RepoFiles, texts: TextTable, faults: string[]): readonly ShippedSource[] {
  const notices = shelf.read("data/NOTICE.md")
  return Object.entries(THIRD_PARTY_FILES).map(([file, extract]) => {
    const notice = markdownSection(notices, file)
    if (notice === null) faults.push(`data/${file}: data/NOTICE.md has no section of that name.`)
    const sha256 = new Bun.CryptoHasher("sha256").update(shelf.read(`data/${file}`)).digest("hex")
    return { id: file, ...extract, package: "", sha256, texts: notice === null ? [] : [texts.indexOf(notice)] }
  })
}

const compareIds = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)

type ThirdPartyFile = {
  readonly says: string
  readonly licence: string
  readonly origin: string
  readonly version: string
}

/** Third-party files in `data/`, by path. Their notices are the sections of the same name in data/NOTICE.md. */
export const THIRD_PARTY_FILES = {
  "confusables.txt": {
    says: "Characters that look alike.",
    licence: "Unicode-DFS-2016",
    origin: "https://www.unicode.org/Public/security/15.0.0/confusables.txt",
    version: "15.0.0",
  },
  "common-words.txt": {
    says: "Words of the language, which no suggestion changes.",
    licence: "LicenseRef-SCOWL",
    origin: "http://wordlist.aspell.net/",
    version: "2020.12.07",
  },
  "rdap/dns.json": {
    says: "Which registry knows which domains.",
    licence: "MIT",
    origin: "https://data.iana.org/rdap/dns.json",
    version: "2025-11-06",
  },
} as const satisfies Record<string, ThirdPartyFile>

/** The section under a second-level heading of a Markdown text; `null` if there is none. */
function markdownSection(markdown: string, heading: string): string | null {
  const section = markdown.split(/^## /m).find(part => part.startsWith(`${heading}\n`))
  return section === undefined ? null : section.slice(heading.length).trim()
}

/** A checkout with installed packages. Paths are relative to its root. */
export type RepoFiles = {
  /** The text of a file. Throws if it is missing. */
  readonly read: (path: string) => string
  readonly exists: (path: string) => boolean
  /** The names of the entries of a folder, not recursive. */
  readonly entryNames: (folder: string) => readonly string[]
}

/** The names of files with a licence or notices. */
const LICENCE_FILE_NAME = /^(?:licen[cs]e|copying|notice|unlicense)(?:[-._].*)?$/i

/** How much of a file is used. The longest one here has 27 KB. */
const TEXT_LENGTH_MAX = 100_000

/** The licence and notices of the package in a folder, in the order of their file names. */
const readLicenceTexts = (shelf: RepoFiles, folder: string): readonly string[] =>
  shelf
    .entryNames(folder)
    .filter(name => LICENCE_FILE_NAME.test(name))
    .sort()
    .map(name => normalizeText(shelf.read(folder === "." ? name : `${folder}/${name}`)).slice(0, TEXT_LENGTH_MAX))
    .filter(text => text !== "")

/** Copies of the same text differ in line ends and surrounding white space. */
const normalizeText = (text: string): string => text.replaceAll("\r\n", "\n").trim()

/** The standard text of the licence for a package without one; `null` if we have none. */
function standardLicenceText(shelf: RepoFiles, expression: string, holder: string): string | null {
  const chosen = allowedLicences(expression)
  if (chosen?.length !== 1 || chosen[0] !== "MIT") return null
  return normalizeText(shelf.read("data/licences/MIT.txt")).replace("<holder>", holder)
}

/** A set of texts with indexes. */
class TextTable {
  readonly #indexes = new Map<string, number>()

  /** The index of the text, which is added if it is new. */
  indexOf(text: string): number {
    const known = this.#indexes.get(text) ?? this.#indexes.size
    this.#indexes.set(text, known)
    return known
  }

  /** All texts, in the order of their indexes. */
  all(): string[] {
    return [...this.#indexes.keys()]
  }
}
