import { type Static, Type } from "@sinclair/typebox"

/** How the program uses a package. */
const PACKAGE_USES = ["server", "pages", "lists"] as const

const PackageSchema = Type.Object({
  name: Type.String(),
  version: Type.String(),
  /** The SPDX expression that the package declares. */
  licence: Type.String(),
  /** The alternative of that expression under which we use it. */
  chosen: Type.Array(Type.String()),
  /** The URL of its repository; empty if unknown. */
  origin: Type.String(),
  /** The SHA-512 of the registry's archive, in hex. */
  sha512: Type.String(),
  /** `server`: its code runs in the server; `pages`: it runs in browsers, in the API reference; `lists`: lists are read from it. */
  use: Type.Union(PACKAGE_USES.map(use => Type.Literal(use))),
  /** Its dependencies, as `name@version`. */
  needs: Type.Array(Type.String()),
  /** The indexes of its licence and notices in `allTexts`. */
  texts: Type.Array(Type.Integer()),
})

const SourceSchema = Type.Object({
  id: Type.String(),
  says: Type.String(),
  licence: Type.String(),
  origin: Type.String(),
  /** Its date or version; empty if a refresh downloads it. */
  version: Type.String(),
  /** The package that contains it, as `name@version`; empty if none. */
  package: Type.String(),
  /** The SHA-256 of its file in this repository, in hex; empty if it has none. */
  sha256: Type.String(),
  texts: Type.Array(Type.Integer()),
})

const RuntimeSchema = Type.Object({
  name: Type.String(),
  version: Type.String(),
  licence: Type.String(),
  origin: Type.String(),
  texts: Type.Array(Type.Integer()),
})

/** The format in which the executable contains the inventory. */
export const Inventory = Type.Object({
  name: Type.String(),
  version: Type.String(),
  licence: Type.String(),
  says: Type.String(),
  /** The licence of the program itself. */
  texts: Type.Array(Type.Integer()),
  runtime: RuntimeSchema,
  packages: Type.Array(PackageSchema),
  sources: Type.Array(SourceSchema),
  /** The direct dependencies of the program, as `name@version`. */
  roots: Type.Array(Type.String()),
  /** The version of the bundled lists and the SHA-256 of their pack, in hex. */
  lists: Type.Object({ version: Type.String(), sha256: Type.String() }),
  /** All licence texts and notices, each once. */
  allTexts: Type.Array(Type.String()),
})

/** Everything that the program consists of, with licences: packages, sources of the lists, and the runtime. */
export type Inventory = Static<typeof Inventory>
export type ShippedPackage = Static<typeof PackageSchema>
export type ShippedSource = Static<typeof SourceSchema>
export type PackageUse = (typeof PACKAGE_USES)[number]

/** The package as `name@version`. */
export const packageId = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `${name}@${version}`
