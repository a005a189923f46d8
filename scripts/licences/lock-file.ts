import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"

const Ranges = Type.Optional(Type.Record(Type.String(), Type.String()))

/** The dependencies that a package declares. */
const PackageDependencies = Type.Object({
  dependencies: Ranges,
  optionalDependencies: Ranges,
  peerDependencies: Ranges,
  optionalPeers: Type.Optional(Type.Array(Type.String())),
})

/** Name and version, the registry ("" is npm's public one), the dependencies, and the digest of the archive. */
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

/** A package of the lock file. */
export type LockedPackage = {
  /** The names of the packages in which it is nested, and its own: `["a", "b"]` is `node_modules/a/node_modules/b`. */
  readonly nesting: readonly string[]
  readonly name: string
  readonly version: string
  /** SHA-512 of the package's archive, in hex. */
  readonly sha512: string
  /** The names of its runtime dependencies, without optional peers. */
  readonly dependencies: readonly string[]
}

/** The part of bun.lock that determines what is installed. */
export type LockFile = {
  /** The names of the program's own dependencies, and of those of its development. */
  readonly dependencies: readonly string[]
  readonly devDependencies: readonly string[]
  /** Packages whose install scripts may run. */
  readonly trustedDependencies: readonly string[]
  /** By nesting, joined by `/`. */
  readonly packages: ReadonlyMap<string, LockedPackage>
}

/**
 * Parses bun.lock. Only packages of npm's registry with a SHA-512 are allowed: a git repository, an archive at a URL, a folder or
 * another registry is a fault. Throws `SyntaxError` if the text is not JSON.
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

/** Splits a nesting into names. A scope (`@scope/name`) is part of the name. */
const nestedNames = (place: string): readonly string[] => place.match(/@[^/]+\/[^/]+|[^/]+/g) ?? []

/** Resolves a name as Node.js does: the nearest package outwards from a nesting; `null` if it is not installed. */
export function resolvePackage(lock: LockFile, from: readonly string[], name: string): LockedPackage | null {
  for (let depth = from.length; depth >= 0; depth--) {
    const at = lock.packages.get([...from.slice(0, depth), name].join("/"))
    if (at !== undefined) return at
  }
  return null
}

/** The installed dependencies of a package. Optional packages for other platforms are not installed. */
export const installedDependencies = (
  lock: LockFile,
  { nesting, dependencies: needs }: LockedPackage,
): readonly LockedPackage[] => needs.map(name => resolvePackage(lock, nesting, name)).filter(needed => needed !== null)

/** The named packages with their transitive dependencies, each once. */
export function dependencyClosure(lock: LockFile, names: readonly string[]): ReadonlySet<LockedPackage> {
  const reached = new Set(names.map(name => resolvePackage(lock, [], name)).filter(root => root !== null))
  // A set also iterates over elements that are added meanwhile, so the loop ends when nothing new is reached.
  for (const reachedNow of reached) for (const needed of installedDependencies(lock, reachedNow)) reached.add(needed)
  return reached
}
