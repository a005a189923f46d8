import { createHash } from "node:crypto"
import { crc32 } from "node:zlib"
import { AT, HEADER_BYTES } from "./pack-format.ts"

/** SHA-256 of all that follows the checksum in a pack's bytes. */
export const checksumOf = (file: Uint8Array): Uint8Array =>
  createHash("sha256").update(file.subarray(AT.sections)).digest()

/** CRC-32 of a pack's header but for the check itself. It tells a damaged header without reading the pack. */
export const headerCheckOf = (file: Uint8Array): number =>
  crc32(file.subarray(AT.checksum, HEADER_BYTES), crc32(file.subarray(0, AT.check)))
