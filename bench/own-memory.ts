import { gc } from "bun"
import { statusBytes } from "./proc.ts"

/**
 * What this process holds, in bytes, after its garbage was collected; NaN where the system does not tell. Private memory
 * is what only this process has and nothing can take back; a mapped file's pages are the system's, shared by all who map
 * it.
 */
export function memoryNow(): { readonly privateBytes: number; readonly residentBytes: number } {
  gc(true)
  return { privateBytes: statusBytes("self", "RssAnon"), residentBytes: statusBytes("self", "VmRSS") }
}
