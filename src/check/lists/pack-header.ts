import { headerCheckOf } from "./pack-checksum.ts"
import {
  AT,
  FORMAT_NUMBER,
  HEADER_BYTES,
  LENGTH_ENTRY_BYTES,
  MAGIC,
  NAME_LENGTH_MAX,
  SECTIONS,
  type SectionName,
} from "./pack-format.ts"

/** The sections of a pack, each a view of its bytes; or why the bytes are no pack that we can read. */
export type Sections =
  | { readonly kind: "sections"; readonly sections: Readonly<Record<SectionName, Uint8Array>> }
  | { readonly kind: "refused"; readonly says: string; readonly remedy: string }

const REBUILD = "Build it again with `mailkind lists build`."
const REPLACE = "Fetch or build it again; the file was cut or changed after it was written."

/** Reads the header of a pack, and nothing else of it. It never throws. */
export function sectionsOf(bytes: Uint8Array): Sections {
  if (bytes.length === 0) return refused("The pack is empty.", REPLACE)
  if (MAGIC.some((byte, at) => at < bytes.length && bytes[at] !== byte))
    return refused("The file is not a pack.", REBUILD)
  if (bytes.length < HEADER_BYTES)
    return refused(`The pack ends within its header, after ${bytes.length} bytes.`, REPLACE)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const format = view.getUint32(AT.format, true)
  if (format !== FORMAT_NUMBER)
    return refused(`The pack has format ${format}; this version reads ${FORMAT_NUMBER}.`, REBUILD)
  const length = view.getUint32(AT.length, true)
  if (length !== bytes.length) return refused(`The pack has ${bytes.length} bytes and says ${length}.`, REPLACE)
  if (headerCheckOf(bytes) !== view.getUint32(AT.check, true)) return refused("The pack's header is damaged.", REPLACE)
  return cut(bytes, view)
}

function cut(bytes: Uint8Array, view: DataView): Sections {
  const sections: Partial<Record<SectionName, Uint8Array>> = {}
  let reached = HEADER_BYTES
  for (const [at, name] of SECTIONS.entries()) {
    const offset = view.getUint32(AT.sections + at * 8, true)
    const length = view.getUint32(AT.sections + at * 8 + 4, true)
    if (offset !== reached || offset + length > bytes.length)
      return refused(`The section ${name} is not in its place.`, REPLACE)
    sections[name] = bytes.subarray(offset, offset + length)
    reached += length
  }
  if (reached !== bytes.length) return refused("Bytes follow the pack's last section.", REPLACE)
  if (sections.lengths?.length !== NAME_LENGTH_MAX * LENGTH_ENTRY_BYTES)
    return refused("The table of lengths is cut.", REPLACE)
  const filterBytes = sections.filter?.length ?? 0
  if (filterBytes === 0 || (filterBytes & (filterBytes - 1)) !== 0) return refused("The filter is cut.", REPLACE)
  // Every section was set by the loop.
  return { kind: "sections", sections: sections as Record<SectionName, Uint8Array> }
}

const refused = (says: string, remedy: string): Sections => ({ kind: "refused", says, remedy })
