import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"

const Ranges = Type.Optional(Type.Record(Type.String(), Type.String()))

/** What the registry's package says that it needs. A script that wants to run when it is installed is never run. */
const PackageDependencies = Type.Object({
  dependencies: Ranges,
  optionalDependencies: Ranges,
  peerDependencies: Ranges,
  optionalPeers: Type.Optional(Type.Array(Type.String())),
})

/** Name and version, the registry ("" is the public one of npm), what it needs, and the digest of its archive. */
const LockFileEntry = Type.Tuple([
  Type.String({ pattern: "^.+@[0-9]" }),
  Type.Literal(""),
  PackageDependencies,
  Type.String({ pattern: "^sha512-[A-Za-z0-9+/]{86}==$" }),
])

const LockFileSchema = Type.Object({
  workspaces: Type.Object({ "": Type.Object({ dependencies: Ranges, devDependencies: Ranges }) }),
  trustedDependencies: Type.Array(Type.String()),
  packages: Type.Record(Type.String(), LockFileEntry),
})

/** One package of the lock file. */
export type LockedPackage = {
  /** The names of the packages that it lies in, and its own: `["a", "b"]` is `node_modules/a/node_modules/b`. */
  readonly nesting: readonly string[]
  readonly name: string
  readonly version: string
  /** SHA-512 of the package's archive, in hex. */
  readonly sha512: string
  /** The names of what it needs to run; a peer that is optional is not among them. */
  readonly dependencies: readonly string[]
}

/** The lock file (bun.lock) as far as it says what is installed. */
export type LockFile = {
  /** Names of what the program itself needs, and of what only its development does. */
  readonly dependencies: readonly string[]
  readonly devDependencies: readonly string[]
  /** Packages whose install scripts may run. */
  readonly trustedDependencies: readonly string[]
  /** By place, its names joined by `/`. */
  readonly packages: ReadonlyMap<string, LockedPackage>
}

/**
 * Reads the text of bun.lock. Whatever is not a package of npm's registry under its SHA-512 is a fault: a git repository, an
 * archive at a URL, a folder, another registry. Throws `SyntaxError` when the text is no JSON at all.
 */
export function parseLockFile(
  text: string,
):
  | { readonly kind: "lock"; readonly lock: LockFile }
  | { readonly kind: "refused"; readonly faults: readonly string[] } {
  const found: unknown = Bun.JSONC.parse(text)
  if (!Value.Check(LockFileSchema, found))
    return {
      kind: "refused",
      faults: [...Value.Errors(LockFileSchema, found)].map(({ path, message }) => `bun.lock${path}: ${message}`),
    }
  const own = found.workspaces[""]
  const packages = Object.entries(found.packages).map(
    ([place, entry]) => [place, parseLockedPackage(place, entry)] as const,
  )
  return {
    kind: "lock",
    lock: {
      dependencies: Object.keys(own.dependencies ?? {}),
      devDependencies: Object.keys(own.devDependencies ?? {}),
      trustedDependencies: found.trustedDependencies,
      packages: new Map(packages),
    },
  }
}

function parseLockedPackage(place: string, [named, , needs, digest]: Static<typeof LockFileEntry>): LockedPackage {
  const at = named.lastIndexOf("@")
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, optionalPeers = [] } = needs
  const peers = Object.keys(peerDependencies).filter(name => !optionalPeers.includes(name))
  return {
    nesting: nestedNames(place),
    name: named.slice(0, at),
    version: named.slice(at + 1),
    sha512: Buffer.from(digest.slice("sha512-".length), "base64").toString("hex"),
    dependencies: [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers],
  }
}

/** The names in a place: a scope (`@scope/name`) is part of its name. */
const nestedNames = (place: string): readonly string[] => place.match(/@[^/]+\/[^/]+|[^/]+/g) ?? []

/** The package that a name means for what lies at a place: the nearest one outwards; null: it is not installed. */
export function resolvePackage(lock: LockFile, from: readonly string[], name: string): LockedPackage | null {
  for (let depth = from.length; depth >= 0; depth--) {
    const at = lock.packages.get([...from.slice(0, depth), name].join("/"))
    if (at !== undefined) return at
  }
  return null
}

/** What a package needs, as far as it is installed: an optional part of another system is not. */
export const installedDependencies = (
  lock: LockFile,
  { nesting, dependencies: needs }: LockedPackage,
): readonly LockedPackage[] => needs.map(name => resolvePackage(lock, nesting, name)).filter(needed => needed !== null)

/** The named packages and all that they need, and so on; each once. */
export function dependencyClosure(lock: LockFile, names: readonly string[]): ReadonlySet<LockedPackage> {
  const reached = new Set(names.map(name => resolvePackage(lock, [], name)).filter(root => root !== null))
  // A set is walked in the order in which it grows, so that this ends when nothing new is reached.
  for (const reachedNow of reached) for (const needed of installedDependencies(lock, reachedNow)) reached.add(needed)
  return reached
}
