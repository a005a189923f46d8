/** The media type of a blob that is compressed (RFC 6713). */
export const GZIP_TYPE = "application/gzip"

/** The bytes of a blob, unpacked if it is compressed. */
export async function unpackedBytes(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  return blob.type === GZIP_TYPE ? Bun.gunzipSync(bytes, { library: "libdeflate" }) : bytes
}
