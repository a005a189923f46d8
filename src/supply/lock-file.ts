import { type Static, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"

const Ranges = Type.Optional(Type.Record(Type.String(), Type.String()))

/** What the registry's package says that it needs. A script that wants to run when it is installed is never run. */
const Needs = Type.Object({
  dependencies: Ranges,
  optionalDependencies: Ranges,
  peerDependencies: Ranges,
  optionalPeers: Type.Optional(Type.Array(Type.String())),
})

/** Name and version, the registry ("" is the public one of npm), what it needs, and the digest of its archive. */
const Entry = Type.Tuple([
  Type.String({ pattern: "^.+@[0-9]" }),
  Type.Literal(""),
  Needs,
  Type.String({ pattern: "^sha512-[A-Za-z0-9+/]{86}==$" }),
])

const LockText = Type.Object({
  workspaces: Type.Object({ "": Type.Object({ dependencies: Ranges, devDependencies: Ranges }) }),
  trustedDependencies: Type.Array(Type.String()),
  packages: Type.Record(Type.String(), Entry),
})

/** One package of the lock file. */
export type LockedPackage = {
  /** The names of the packages that it lies in, and its own: `["a", "b"]` is `node_modules/a/node_modules/b`. */
  readonly place: readonly string[]
  readonly name: string
  readonly version: string
  /** SHA-512 of the package's archive, in hex. */
  readonly sha512: string
  /** The names of what it needs to run; a peer that is optional is not among them. */
  readonly needs: readonly string[]
}

/** The lock file (bun.lock) as far as it says what is installed. */
export type Lock = {
  /** Names of what the program itself needs, and of what only its development does. */
  readonly dependencies: readonly string[]
  readonly devDependencies: readonly string[]
  /** Packages whose install scripts may run. */
  readonly trusted: readonly string[]
  /** By place, its names joined by `/`. */
  readonly packages: ReadonlyMap<string, LockedPackage>
}

/**
 * Reads the text of bun.lock. Whatever is not a package of npm's registry under its SHA-512 is a fault: a git repository, an
 * archive at a URL, a folder, another registry. Throws `SyntaxError` when the text is no JSON at all.
 */
export function readLock(
  text: string,
): { readonly kind: "lock"; readonly lock: Lock } | { readonly kind: "refused"; readonly faults: readonly string[] } {
  const found: unknown = Bun.JSONC.parse(text)
  if (!Value.Check(LockText, found))
    return {
      kind: "refused",
      faults: [...Value.Errors(LockText, found)].map(({ path, message }) => `bun.lock${path}: ${message}`),
    }
  const own = found.workspaces[""]
  const packages = Object.entries(found.packages).map(([place, entry]) => [place, packageOf(place, entry)] as const)
  return {
    kind: "lock",
    lock: {
      dependencies: Object.keys(own.dependencies ?? {}),
      devDependencies: Object.keys(own.devDependencies ?? {}),
      trusted: found.trustedDependencies,
      packages: new Map(packages),
    },
  }
}

function packageOf(place: string, [named, , needs, digest]: Static<typeof Entry>): LockedPackage {
  const at = named.lastIndexOf("@")
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, optionalPeers = [] } = needs
  const peers = Object.keys(peerDependencies).filter(name => !optionalPeers.includes(name))
  return {
    place: namesIn(place),
    name: named.slice(0, at),
    version: named.slice(at + 1),
    sha512: Buffer.from(digest.slice("sha512-".length), "base64").toString("hex"),
    needs: [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers],
  }
}

/** The names in a place: a scope (`@scope/name`) is part of its name. */
const namesIn = (place: string): readonly string[] => place.match(/@[^/]+\/[^/]+|[^/]+/g) ?? []

/** The package that a name means for what lies at a place: the nearest one outwards; null: it is not installed. */
export function found(lock: Lock, from: readonly string[], name: string): LockedPackage | null {
  for (let depth = from.length; depth >= 0; depth--) {
    const at = lock.packages.get([...from.slice(0, depth), name].join("/"))
    if (at !== undefined) return at
  }
  return null
}

/** What a package needs, as far as it is installed: an optional part of another system is not. */
export const needsOf = (lock: Lock, { place, needs }: LockedPackage): readonly LockedPackage[] =>
  needs.map(name => found(lock, place, name)).filter(needed => needed !== null)

/** The named packages and all that they need, and so on; each once. */
export function closure(lock: Lock, names: readonly string[]): ReadonlySet<LockedPackage> {
  const reached = new Set(names.map(name => found(lock, [], name)).filter(root => root !== null))
  // A set is walked in the order in which it grows, so that this ends when nothing new is reached.
  for (const reachedNow of reached) for (const needed of needsOf(lock, reachedNow)) reached.add(needed)
  return reached
}
