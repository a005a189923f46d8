import PRODUCT from "../../../package.json" with { type: "json" }

/** The name of the package and of its files. */
export const CLIENT_PACKAGE = "mailkind-client"

/** The `package.json` of the client. Its version is that of the product, which the types are those of. */
export const clientManifest = () => ({
  name: CLIENT_PACKAGE,
  version: PRODUCT.version,
  description:
    "Client of mailkind: checks email addresses, domains and websites, and never keeps a person out because a check failed.",
  license: PRODUCT.license,
  keywords: ["email", "validation", "disposable", "business", "sign-up", "mailkind"],
  type: "module",
  sideEffects: false,
  engines: { node: ">=20" },
  exports: {
    ".": { types: "./types/mailkind-client.d.ts", default: `./${CLIENT_PACKAGE}.js` },
    "./package.json": "./package.json",
  },
  types: "./types/mailkind-client.d.ts",
  files: [`${CLIENT_PACKAGE}.js`, "types"],
  // With provenance npm shows which commit and which build made the package.
  publishConfig: { access: "public", provenance: true },
})
