import { fingerprint } from "../../base/fingerprint.ts"

/** The path below which assets are served. */
export const ASSETS_PATH = "/docs/assets/"

/** The path of an asset. It contains the hash of the file's content, so that caches may keep the file. */
export function hashedPath(name: string, extension: string, bytes: Uint8Array): string {
  return `${ASSETS_PATH}${name}-${fingerprint(bytes)}.${extension}`
}
