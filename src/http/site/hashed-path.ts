/** The path below which assets are served. */
export const ASSETS_PATH = "/docs/assets/"

/** The path of an asset. It contains the hash of the file's content, so that caches may keep the file. */
export function hashedPath(name: string, extension: string, bytes: Uint8Array): string {
  return `${ASSETS_PATH}${name}-${hashedVersion(bytes)}.${extension}`
}

/** A short hash of a content, which changes when the content does. */
export const hashedVersion = (bytes: Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 16)
