import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { assert } from "../../base/errors.ts"
import { GZIP_TYPE } from "../../base/gzip.ts"
import { acceptsGzip } from "../response/compression.ts"
import FORM_DEMO_SCRIPT from "./browser/form-demo.js" with { type: "text" }
import SEARCH_SCRIPT from "./browser/search.js" with { type: "text" }
import SITE_SCRIPT from "./browser/site.js" with { type: "text" }
import THEME_SCRIPT from "./browser/theme.js" with { type: "text" }
import { ASSETS_PATH, hashedPath } from "./hashed-path.ts"
import { MARK_SVG } from "./mark.ts"
import type { AssetFile } from "./page-responses.ts"
import { SOCIAL_IMAGE, SOCIAL_IMAGE_PATH } from "./social-image.ts"
import { ACCOUNT_STYLESHEET, DOCS_STYLESHEET, STYLESHEET } from "./ui/stylesheet.ts"

/** The assets in the executable, with their media types. */
const ASSETS = {
  /** Shows another example on a page of the API reference. */
  "reference.js": "text/javascript; charset=utf-8",
  /** Notices on the overview when a step is done. */
  "overview.js": "text/javascript; charset=utf-8",
  /** Keeps the request log live. */
  "live-requests.js": "text/javascript; charset=utf-8",
  /** Shows the first rows of a chosen list, and what it costs. */
  "list-form.js": "text/javascript; charset=utf-8",
  /** Keeps the page of a list live. */
  "list-progress.js": "text/javascript; charset=utf-8",
  /** The proof-of-work widget of the free checker, its worker, and the script that sends the solution. */
  "altcha.js": "text/javascript; charset=utf-8",
  "altcha.css": "text/css; charset=utf-8",
  "altcha-worker.js": "text/javascript; charset=utf-8",
  "pass.js": "text/javascript; charset=utf-8",
  /** For operators: a Grafana dashboard and Prometheus rules. */
  "grafana-dashboard.json": "application/json",
  "prometheus-alerts.yml": "application/yaml",
} as const satisfies Record<string, string>
export type AssetName = keyof typeof ASSETS

/** Reads an asset from the executable. A compressed one has the type `GZIP_TYPE`. Null when this build does not contain it. */
export type ReadEmbeddedAsset = (name: AssetName | typeof CLIENT_FILE) => Blob | null

/** The package of the client, which has a path of its own. */
export const CLIENT_FILE = "mailkind-client.tgz"

/** The assets of the pages. Each path contains the hash of the file's content. */
export type Assets = {
  /** The path of an asset. Rejects with `InvariantError` when this build does not contain it. */
  readonly path: (name: AssetName) => Promise<string>
  /** The file at a path, compressed when `Accept-Encoding` allows it. Null when there is no such file. */
  readonly file: (path: string, acceptEncoding: string | null) => Promise<AssetFile | null>
  /** The package of the client. Null: this checkout has not made it. */
  readonly clientPackage: () => Promise<Uint8Array<ArrayBuffer> | null>
}

/** The path of the stylesheet of all pages. */
export const STYLESHEET_PATH = hashedPath("site", "css", Buffer.from(STYLESHEET))

/** The path of the further stylesheet for signed-in people. */
export const ACCOUNT_STYLESHEET_PATH = hashedPath("account", "css", Buffer.from(ACCOUNT_STYLESHEET))

/** The path of the further stylesheet of the guide and the API reference. */
export const DOCS_STYLESHEET_PATH = hashedPath("docs", "css", Buffer.from(DOCS_STYLESHEET))

/** The path of the script of all pages, a module. */
export const SITE_SCRIPT_PATH = hashedPath("site", "js", Buffer.from(SITE_SCRIPT))

/** The path of the script that applies the chosen colours before a page is drawn. */
export const THEME_SCRIPT_PATH = hashedPath("theme", "js", Buffer.from(THEME_SCRIPT))

/** The path of the script that searches the guide, a module. */
export const SEARCH_SCRIPT_PATH = hashedPath("search", "js", Buffer.from(SEARCH_SCRIPT))

/** The path of the script of the guide's live form, a module. */
export const FORM_DEMO_SCRIPT_PATH = hashedPath("form-demo", "js", Buffer.from(FORM_DEMO_SCRIPT))

/** The path of the favicon. */
export const ICON_PATH = hashedPath("icon", "svg", Buffer.from(MARK_SVG))

/** Builds the assets of one server. Each is read from the executable once, when it is first requested. */
export function createAssets(readEmbedded: ReadEmbeddedAsset): Assets {
  const files = new Map<string, EncodeAsset>([
    [STYLESHEET_PATH, cachedAsset("text/css; charset=utf-8", Buffer.from(STYLESHEET))],
    [ACCOUNT_STYLESHEET_PATH, cachedAsset("text/css; charset=utf-8", Buffer.from(ACCOUNT_STYLESHEET))],
    [DOCS_STYLESHEET_PATH, cachedAsset("text/css; charset=utf-8", Buffer.from(DOCS_STYLESHEET))],
    [ICON_PATH, cachedAsset("image/svg+xml", Buffer.from(MARK_SVG))],
    [SOCIAL_IMAGE_PATH, cachedAsset("image/png", SOCIAL_IMAGE)],
    [SITE_SCRIPT_PATH, cachedAsset("text/javascript; charset=utf-8", Buffer.from(SITE_SCRIPT))],
    [SEARCH_SCRIPT_PATH, cachedAsset("text/javascript; charset=utf-8", Buffer.from(SEARCH_SCRIPT))],
    [FORM_DEMO_SCRIPT_PATH, cachedAsset("text/javascript; charset=utf-8", Buffer.from(FORM_DEMO_SCRIPT))],
    [THEME_SCRIPT_PATH, cachedAsset("text/javascript; charset=utf-8", Buffer.from(THEME_SCRIPT))],
  ])
  const load = async (name: AssetName): Promise<string | null> => {
    const blob = readEmbedded(name)
    if (blob === null) return null
    const bytes = new Uint8Array(await blob.arrayBuffer())
    const dot = name.lastIndexOf(".")
    const path = hashedPath(name.slice(0, dot), name.slice(dot + 1), bytes)
    files.set(path, blob.type === GZIP_TYPE ? compressedAsset(ASSETS[name], bytes) : cachedAsset(ASSETS[name], bytes))
    return path
  }
  const paths = new Map<AssetName, Promise<string | null>>()
  const loadOnce = (name: AssetName): Promise<string | null> => {
    const path = paths.get(name) ?? load(name)
    paths.set(name, path)
    return path
  }
  return {
    path: async name => {
      const path = await loadOnce(name)
      assert(path !== null, `the executable contains ${name}`)
      return path
    },
    file: async (path, acceptEncoding) => {
      if (!files.has(path))
        await Promise.all(ASSET_NAMES.filter(name => path.startsWith(pathPrefix(name))).map(loadOnce))
      const file = files.get(path)
      return file === undefined ? null : await file(acceptsGzip(acceptEncoding))
    },
    clientPackage: async () => {
      const blob = readEmbedded(CLIENT_FILE)
      return blob === null ? null : new Uint8Array(await blob.arrayBuffer())
    },
  }
}

const ASSET_NAMES = Object.keys(ASSETS) as AssetName[] // the keys of a table are its type's

/** The beginning of an asset's path, before the hash. */
const pathPrefix = (name: AssetName): string => `${ASSETS_PATH}${name.slice(0, name.lastIndexOf("."))}-`

/** Returns a file, compressed or not. */
type EncodeAsset = (isCompressed: boolean) => Promise<AssetFile>

/** Holds a file, and its compressed form once that was requested. */
function cachedAsset(mediaType: string, bytes: Uint8Array<ArrayBuffer>): EncodeAsset {
  let compressed: Promise<Uint8Array<ArrayBuffer>> | null = null
  return async isCompressed => {
    if (!isCompressed) return { mediaType, bytes, encoding: null }
    compressed ??= gzipBytes(bytes)
    return { mediaType, bytes: await compressed, encoding: "gzip" }
  }
}

/** Holds a file that is compressed already. Few clients want it unpacked, so that form is not held. */
function compressedAsset(mediaType: string, bytes: Uint8Array<ArrayBuffer>): EncodeAsset {
  return async isCompressed =>
    isCompressed
      ? { mediaType, bytes, encoding: "gzip" }
      : { mediaType, bytes: new Uint8Array(await gunzipBytes(bytes)), encoding: null }
}

const gunzipBytes = promisify(gunzip)
const gzipBytes = promisify(gzip)
