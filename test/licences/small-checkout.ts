import type { RepoFiles } from "../../scripts/licences/inventory-scan.ts"

const DIGEST = `sha512-${"A".repeat(86)}==`

const LOCK = {
  lockfileVersion: 2,
  workspaces: {
    "": { name: "mailkind", dependencies: { a: "1.0.0" }, devDependencies: { altcha: "1.0.0" } },
  },
  trustedDependencies: [],
  packages: {
    a: [
      "a@1.0.0",
      "",
      { dependencies: { b: "^1" }, peerDependencies: { c: "*", d: "*" }, optionalPeers: ["d"] },
      DIGEST,
    ],
    b: ["b@1.0.0", "", {}, DIGEST],
    "a/b": ["b@2.0.0", "", { dependencies: { c: "*" } }, DIGEST],
    c: ["c@1.0.0", "", { dependencies: { a: "*" } }, DIGEST],
    d: ["d@1.0.0", "", {}, DIGEST],
    altcha: ["altcha@1.0.0", "", { dependencies: { b: "1" } }, DIGEST],
    lists: ["lists@1.0.0", "", { dependencies: { d: "1" } }, DIGEST],
  },
} as const

const CATALOGUE = {
  format: 1,
  providers_first: [],
  sources: [
    {
      ...{
        id: "listed",
        set: "disposable",
        trust: "high",
        licence: "CC0-1.0",
        origin: "https://lists.example/x",
        date: "2026-01-01",
      },
      from: { package: "lists", file: "names.txt", format: "lines" },
    },
  ],
} as const

const own = (version: string, more: object = {}): string =>
  JSON.stringify({ version, license: "MIT", author: "Ada <ada@example.com> (https://ada.example)", ...more })

/** Every file of a small checkout, by path. */
const FILES: Readonly<Record<string, string>> = {
  "bun.lock": JSON.stringify(LOCK),
  "package.json": own("3.0.0", { name: "mailkind", description: "It tells.", packageManager: "bun@9.9.9" }),
  LICENSE: "Our own licence",
  "data/catalogue.json": JSON.stringify(CATALOGUE),
  "data/manifest.json": JSON.stringify({
    version: "v1",
    pack: { sha256: "ab".repeat(32) },
    sources: {
      listed: { set: "disposable", licence: "CC0-1.0", origin: "https://lists.example/x", date: "2026-01-01" },
    },
  }),
  "data/NOTICE.md": "# Notices\n\n## confusables.txt\n\nU\n\n## common-words.txt\n\nW\n\n## rdap/dns.json\n\nR\n",
  "data/confusables.txt": "",
  "data/common-words.txt": "",
  "data/rdap/dns.json": "",
  "data/licences/MIT.txt": "MIT License\n\nCopyright (c) <holder>\n",
  "data/licences/LGPL-2.0.txt": "LGPL 2.0",
  "data/licences/LGPL-2.1.txt": "LGPL 2.1",
  "node_modules/bun-types/docs/project/license.mdx": "Bun is under MIT.",
  "node_modules/a/package.json": own("1.0.0", { repository: "github:ada/a" }),
  "node_modules/a/LICENSE": "A's licence\r\n",
  "node_modules/a/NOTICE.txt": "A's notice",
  "node_modules/a/licenses.js": "code",
  "node_modules/a/node_modules/b/package.json": own("2.0.0", {
    repository: { url: "git+ssh://git@github.com/ada/b.git" },
  }),
  "node_modules/b/package.json": own("1.0.0"),
  "node_modules/b/LICENSE.md": "A's licence",
  "node_modules/c/package.json": own("1.0.0", { license: { type: "(GPL-3.0-only OR ISC)" } }),
  "node_modules/c/COPYING": "C's licence",
  "node_modules/d/package.json": own("1.0.0", { license: "GPL-3.0-only" }),
  "node_modules/altcha/package.json": own("1.0.0", { author: undefined }),
  "node_modules/lists/package.json": own("1.0.0", { license: "CC0-1.0" }),
  "node_modules/lists/licence": "Lists' licence",
}

/** A checkout of a few packages; `changes` are files in place of its own, and null is a file that is not there. */
export function smallCheckout(changes: Readonly<Record<string, string | null>> = {}): RepoFiles {
  const files = Object.fromEntries(Object.entries({ ...FILES, ...changes }).filter(([, text]) => text !== null))
  return {
    read: path => {
      const text = files[path]
      if (typeof text !== "string") throw new Error(`there is no ${path}`)
      return text
    },
    exists: path => path in files,
    entryNames: folder => {
      const within = folder === "." ? "" : `${folder}/`
      const below = Object.keys(files).filter(path => path.startsWith(within))
      return [...new Set(below.map(path => path.slice(within.length).split("/")[0] ?? ""))].reverse()
    },
  }
}
