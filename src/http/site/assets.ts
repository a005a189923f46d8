import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { assert } from "../../base/errors.ts"
import type { AssetFile } from "./page-responses.ts"
import { STYLESHEET } from "./ui/stylesheet.ts"

/** Where the pages' own files are. */
export const ASSETS_PATH = "/docs/assets/"

/** What the executable carries for pages, by name, and of which media type it is. */
const ASSETS = {
  /** The API reference. */
  "scalar.js": "text/javascript; charset=utf-8",
  /** What the API reference leaves out. */
  "reference.js": "text/javascript; charset=utf-8",
  /** Buttons that copy. */
  "copy.js": "text/javascript; charset=utf-8",
  /** Forms that are sent once. */
  "once.js": "text/javascript; charset=utf-8",
  /** The chart of usage, and what it is drawn with. */
  "usage-chart.js": "text/javascript; charset=utf-8",
  "uplot.js": "text/javascript; charset=utf-8",
  "uplot.css": "text/css; charset=utf-8",
  /** The widget that solves the challenge of a pass, its looks, its worker, and what sends the solution. */
  "altcha.js": "text/javascript; charset=utf-8",
  "altcha.css": "text/css; charset=utf-8",
  "altcha-worker.js": "text/javascript; charset=utf-8",
  "pass.js": "text/javascript; charset=utf-8",
  /** What operators take from here: a dashboard for Grafana, and rules for Prometheus. */
  "grafana-dashboard.json": "application/json",
  "prometheus-alerts.yml": "application/yaml",
} as const satisfies Record<string, string>
export type AssetName = keyof typeof ASSETS

/** A file that the executable carries; null: it does not. */
export type ReadEmbeddedAsset = (name: AssetName) => Blob | null

/** The pages' own files. Each path has the hash of the file's content in it. */
export type Assets = {
  /** The path of a file that the executable carries. Rejects with `Broken` when it does not. */
  readonly path: (name: AssetName) => Promise<string>
  /** The file at a path, compressed when the header `Accept-Encoding` allows it; null: there is none. */
  readonly file: (path: string, acceptEncoding: string | null) => Promise<AssetFile | null>
}

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2457a6"/><path d="M7 11h18v11H7z M7 11l9 7 9-7" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round"/></svg>'

/** The path of the one stylesheet of all pages. */
export const STYLESHEET_PATH = hashedPath("site", "css", Buffer.from(STYLESHEET))

/** The path of the icon that browsers show beside a page's title. */
export const ICON_PATH = hashedPath("icon", "svg", Buffer.from(ICON))

/** Builds the files of one server. What the executable carries is read when it is first asked for, and kept. */
export function createAssets(embedded: ReadEmbeddedAsset): Assets {
  const small: readonly (readonly [string, EncodeAsset])[] = [
    [STYLESHEET_PATH, cachedAsset("text/css; charset=utf-8", Buffer.from(STYLESHEET))],
    [ICON_PATH, cachedAsset("image/svg+xml", Buffer.from(ICON))],
  ]
  const files = new Map(small)
  const load = async (name: AssetName): Promise<string | null> => {
    const blob = embedded(name)
    if (blob === null) return null
    const bytes = new Uint8Array(await blob.arrayBuffer())
    const at = name.lastIndexOf(".")
    const path = hashedPath(name.slice(0, at), name.slice(at + 1), bytes)
    files.set(path, cachedAsset(ASSETS[name], bytes))
    return path
  }
  const loading = new Map<AssetName, Promise<string | null>>()
  const loaded = (name: AssetName): Promise<string | null> => {
    const path = loading.get(name) ?? load(name)
    loading.set(name, path)
    return path
  }
  return {
    path: async name => {
      const path = await loaded(name)
      assert(path !== null, `the executable carries ${name}`)
      return path
    },
    file: async (path, acceptEncoding) => {
      if (!files.has(path)) await Promise.all(ASSET_NAMES.filter(name => path.startsWith(pathPrefix(name))).map(loaded))
      const file = files.get(path)
      return file === undefined ? null : await file(acceptsGzip(acceptEncoding))
    },
  }
}

const ASSET_NAMES = Object.keys(ASSETS) as AssetName[] // the keys of a table are its type's

/** What the path of a file begins with, whatever its content. */
const pathPrefix = (name: AssetName): string => `${ASSETS_PATH}${name.slice(0, name.lastIndexOf("."))}-`

/** Gives a file, compressed or not. */
type EncodeAsset = (isCompressed: boolean) => Promise<AssetFile>

/** Keeps a file and, once somebody took it so, its compressed form. */
function cachedAsset(mediaType: string, bytes: Uint8Array<ArrayBuffer>): EncodeAsset {
  let compressed: Promise<Uint8Array<ArrayBuffer>> | null = null
  return async isCompressed => {
    if (!isCompressed) return { mediaType, bytes, encoding: null }
    compressed ??= gzipBytes(bytes)
    return { mediaType, bytes: await compressed, encoding: "gzip" }
  }
}

const gzipBytes = promisify(gzip)

/** Whether `Accept-Encoding` (RFC 9110 §12.5.3) names gzip with a weight above zero. */
function acceptsGzip(acceptEncoding: string | null): boolean {
  const codings = (acceptEncoding ?? "").toLowerCase().split(",")
  return codings.some(coding => {
    const [name = "", weight = "q=1"] = coding.split(";").map(part => part.trim())
    return name === "gzip" && Number(weight.replace(/^q=/, "")) > 0
  })
}

function hashedPath(name: string, extension: string, bytes: Uint8Array): string {
  const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 16)
  return `${ASSETS_PATH}${name}-${hash}.${extension}`
}
