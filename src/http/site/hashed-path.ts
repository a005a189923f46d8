/** The path below which assets are served. */
export const ASSETS_PATH = "/docs/assets/"

/** The path of an asset. It contains the hash of the file's content, so that caches may keep the file. */
export function hashedPath(name: string, extension: string, bytes: Uint8Array): string {
  const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 16)
  return `${ASSETS_PATH}${name}-${hash}.${extension}`
}
