import { zipSync } from "fflate"

/** A file of a tar archive, as tar writes it; `fields` replaces parts of its header. */
export function tarEntry(path: string, content = "", fields: Readonly<Record<number, string>> = {}): Buffer {
  const header = Buffer.alloc(512)
  const put = (at: number, text: string): void => void header.write(text, at, "latin1")
  put(0, path)
  put(124, content.length.toString(8).padStart(11, "0"))
  put(156, "0")
  put(257, "ustar\x0000")
  for (const [at, text] of Object.entries(fields)) put(Number(at), text)
  put(148, "        ")
  put(
    148,
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
  )
  return Buffer.concat([header, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)])
}

const END = Buffer.alloc(1024)
/** The archive of files, compressed. */
export const tarOf = (...entries: readonly Buffer[]): Uint8Array<ArrayBuffer> =>
  Bun.gzipSync(new Uint8Array(Buffer.concat([...entries, END])))

/** A zip archive of files. */
export const zipOf = (files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]))))
