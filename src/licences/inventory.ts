import { type Static, Type } from "@sinclair/typebox"

/** Why a package is part of the program. */
const PACKAGE_USES = ["server", "pages", "lists"] as const

const PackageSchema = Type.Object({
  name: Type.String(),
  version: Type.String(),
  /** As the package declares it, in SPDX's terms. */
  licence: Type.String(),
  /** The licences that we go by, of those that it leaves to choose from. */
  chosen: Type.Array(Type.String()),
  /** Where it is developed; empty: it does not say. */
  origin: Type.String(),
  /** SHA-512 of the package's archive as the registry has it, in hex. */
  sha512: Type.String(),
  /** `server`: its code runs in the server; `pages`: in browsers, with the API reference; `lists`: lists were read from it. */
  use: Type.Union(PACKAGE_USES.map(use => Type.Literal(use))),
  /** What it needs, as `name@version`. */
  needs: Type.Array(Type.String()),
  /** Which of `texts` are its licence and notices. */
  texts: Type.Array(Type.Integer()),
})

const SourceSchema = Type.Object({
  id: Type.String(),
  says: Type.String(),
  licence: Type.String(),
  origin: Type.String(),
  /** The day or version that it is of; empty: it is downloaded by a refresh. */
  version: Type.String(),
  /** The package that it stands in, as `name@version`; empty: none. */
  package: Type.String(),
  /** SHA-256 of its file in this repository, in hex; empty: it has none there. */
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

/** What the inventory is carried as. */
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
  /** The names of the packages that the program itself needs, as `name@version`. */
  roots: Type.Array(Type.String()),
  /** Version of the lists that the program carries, and SHA-256 of their pack, in hex. */
  lists: Type.Object({ version: Type.String(), sha256: Type.String() }),
  /** Each text once. */
  allTexts: Type.Array(Type.String()),
})

/** All that the program is made of: its packages, the sources of its lists, and its runtime, each with its licence. */
export type Inventory = Static<typeof Inventory>
export type ShippedPackage = Static<typeof PackageSchema>
export type ShippedSource = Static<typeof SourceSchema>
export type PackageUse = (typeof PACKAGE_USES)[number]

/** What a package is called where it is named in one word. */
export const packageId = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `${name}@${version}`
