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
  /** `server`: its code runs in the server; `pages`: it runs in browsers, where work is proved; `lists`: lists are read from it. */
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

/** What a licence asks for. */
export type LicenceTerms = {
  /** What it requires of whoever distributes the program. */
  readonly requires: string
  /** Whether it is allowed only for the runtime, which is linked as published and can be replaced. */
  readonly runtimeOnly?: true
}

/** The allowed licences of third-party work, by SPDX identifier. Any other stops the build. */
export const LICENCES = {
  MIT: { requires: "Copies include its text." },
  "MIT-0": { requires: "Nothing." },
  ISC: { requires: "Copies include its text." },
  "BSD-2-Clause": { requires: "Copies include its text." },
  "BSD-3-Clause": { requires: "Copies include its text. The authors' names are not used in advertising." },
  "Apache-2.0": { requires: "Copies include its text and the notices. Changed files say so." },
  "BlueOak-1.0.0": { requires: "Copies include its text or a link to it." },
  "CC0-1.0": { requires: "Nothing. The work is in the public domain." },
  "LicenseRef-US-government-work": { requires: "Nothing. It has no copyright in the United States (17 U.S.C. § 105)." },
  "Unicode-DFS-2016": { requires: "Copies include its text. The holder's name is not used in advertising." },
  "LicenseRef-SCOWL": { requires: "Copies and their documentation include its notice." },
  "LGPL-2.0-or-later": {
    requires: "Copies include its text, and the library can be replaced.",
    runtimeOnly: true,
  },
  "LGPL-2.1-or-later": {
    requires: "Copies include its text, and the library can be replaced.",
    runtimeOnly: true,
  },
} as const satisfies Record<string, LicenceTerms>
