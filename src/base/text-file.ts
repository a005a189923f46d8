/** The text of a file, and whether every user of the host can read it; or why it cannot be read, such as "there is no such file". */
export type TextFile =
  | { readonly kind: "read"; readonly text: string; readonly isReadableByAll: boolean }
  | { readonly kind: "unreadable"; readonly why: string }

/** Reads the text of a file, or of all files of a directory, if it has at most `bytesMax` bytes. */
export type ReadTexts = (path: string, bytesMax: number) => TextFile

/** Reads a file as a stream. What cannot be read rejects at the first part. */
export type ReadParts = (path: string) => AsyncIterable<Uint8Array>
