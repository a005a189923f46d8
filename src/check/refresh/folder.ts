/** One folder of files, as far as a refresh touches it. Names have no `/`. Each function rejects with the system's error. */
export type Folder = {
  /** Null: there is no such file. */
  readonly read: (name: string) => Promise<Uint8Array<ArrayBuffer> | null>
  /** Puts a file in place of what was there: readers find the old one or the new one, whole, at every moment. */
  readonly replace: (name: string, bytes: Uint8Array | string) => Promise<void>
  /** Makes a file that was not there, with its text at once; false: it was there. */
  readonly claim: (name: string, text: string) => Promise<boolean>
  /** Removes a file; one that is not there is no fault. What maps it goes on reading it. */
  readonly remove: (name: string) => Promise<void>
  readonly names: () => Promise<readonly string[]>
}
