import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "bun"
import { runToEnd } from "./server-process.ts"

/** What a product or another program is asked for. */
export const PEER_PATHS = ["listed", "cached", "cold", "batch", "lines"] as const
export type PeerPath = (typeof PEER_PATHS)[number]

/** A program to compare with: what it does, on which paths, the package that it is, and the runtime it needs. */
type Peer = {
  readonly description: string
  readonly paths: readonly PeerPath[]
  /** Null: it needs nothing that is not installed with the project. */
  readonly package: string | null
  readonly runtime: "bun" | "node"
}

/**
 * The peers by their name. They are on npm, in versions that are named here, and none is a dependency of the project: a bench installs them into its
 * folder for temporary files.
 */
export const PEERS = {
  "Bun.serve, Set": {
    description: "a bare server that parses the JSON and looks the domain up in a Set of the names of the lists",
    ...({ paths: ["listed", "cached", "batch", "lines"], package: null, runtime: "bun" } as const),
  },
  "Elysia, Set": {
    description: "the same in Elysia, with a schema of the body",
    ...({ paths: ["listed", "cached", "batch"], package: null, runtime: "bun" } as const),
  },
  mailchecker: {
    description: "its lists of throw-away domains behind Bun.serve",
    ...({ paths: ["listed", "batch", "lines"], package: "mailchecker@6.0.21", runtime: "bun" } as const),
  },
  "disposable-email-domains-js": {
    description: "its list of throw-away domains behind Bun.serve",
    ...({
      paths: ["listed"],
      package: "disposable-email-domains-js@1.26.0",
      runtime: "bun",
    } as const),
  },
  "email-validator": {
    description: "its pattern of an address, without any list",
    ...({ paths: ["lines"], package: "email-validator@2.0.4", runtime: "bun" } as const),
  },
  "deep-email-validator": {
    description: "pattern, list, typos and MX behind Bun.serve, without SMTP",
    ...({ paths: ["cold"], package: "deep-email-validator@0.1.27", runtime: "bun" } as const),
  },
  "node-email-verifier": {
    description: "pattern, list and MX behind Bun.serve",
    ...({ paths: ["cold"], package: "node-email-verifier@4.0.0", runtime: "bun" } as const),
  },
  "node:dns of Bun": {
    description: "the four questions of a check by c-ares, behind Bun.serve",
    ...({ paths: ["cold"], package: null, runtime: "bun" } as const),
  },
  "node:dns of Node": {
    description: "the same in Node, behind node:http",
    ...({ paths: ["cold"], package: null, runtime: "node" } as const),
  },
} as const satisfies Record<string, Peer>
export type PeerName = keyof typeof PEERS
export const PEER_NAMES = Object.keys(PEERS) as readonly PeerName[] // the keys are those of PEERS

/** Whether a peer takes this path. */
export const takesPath = (name: PeerName, path: PeerPath): boolean =>
  PEERS[name].paths.some((taken: PeerPath) => taken === path)

const PROGRAM = fileURLToPath(import.meta.resolve("./peer-program.ts"))
const INSTALL_TIMEOUT_MS = 90_000

/** The command of a peer, to which its task is added, or why it cannot be had. */
export type FoundPeer =
  | { readonly kind: "found"; readonly command: readonly [string, ...string[]] }
  | { readonly kind: "missing"; readonly why: string }

/** Gets a peer into a folder of its own below `directory`. `namesFile` holds the names of the lists, a line each. Never rejects. */
export async function findPeer(name: PeerName, directory: string, namesFile: string): Promise<FoundPeer> {
  const { package: wanted, runtime } = PEERS[name] as Peer
  const folder = join(directory, name.replaceAll(/[^\w-]/g, "-"))
  try {
    await mkdir(folder)
    if (wanted !== null) {
      const cwd = ["--cwd", folder] as const
      const words = ["add", ...cwd, "--exact", "--ignore-scripts", "--silent", wanted] as const
      await runToEnd({ command: [process.execPath, ...words] }, "", INSTALL_TIMEOUT_MS)
    }
    const task = [name, folder, namesFile] as const
    if (runtime === "bun") return { kind: "found", command: [process.execPath, PROGRAM, ...task] }
    const node = Bun.which("node")
    if (node === null) return { kind: "missing", why: "there is no node" }
    const built = await Bun.build({
      entrypoints: [PROGRAM],
      outdir: folder,
      target: "node",
      naming: "[name].mjs",
      external: ["elysia"],
    })
    const [program] = built.outputs
    if (program === undefined) return { kind: "missing", why: "its program was not built" }
    return { kind: "found", command: [node, program.path, ...task] }
  } catch (fault) {
    const message = fault instanceof Error ? fault.message : String(fault)
    return { kind: "missing", why: message.split("\n")[0] ?? "" }
  }
}
