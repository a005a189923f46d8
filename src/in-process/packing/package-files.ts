import PRODUCT from "../../../package.json" with { type: "json" }

/** The name of the package and of its files. */
export const PACKAGE = "mailkind"
export const LISTS_FILE = "lists.pack"

/** The `package.json` of the package. */
export const packageManifest = () => ({
  name: PACKAGE,
  version: PRODUCT.version,
  description: PRODUCT.description,
  license: PRODUCT.license,
  keywords: ["email", "validation", "disposable", "business", "sign-up"],
  type: "module",
  // `crc32` and `process.getBuiltinModule` came with this version.
  engines: { node: ">=20.16", bun: ">=1.3" },
  exports: {
    ".": { types: `./types/${PACKAGE}.d.ts`, default: `./${PACKAGE}.js` },
    "./package.json": "./package.json",
  },
  types: `./types/${PACKAGE}.d.ts`,
  files: [`${PACKAGE}.js`, "types", LISTS_FILE, "NOTICE.md", "LICENCES.txt"],
})
