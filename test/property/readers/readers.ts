import { LIST_READERS } from "./list-readers.ts"
import { NETWORK_READERS } from "./network-readers.ts"
import { REQUEST_READERS } from "./request-readers.ts"
import { ROW_READERS } from "./row-readers.ts"

/** Every reader of bytes that come from outside. */
export const READERS = [...ROW_READERS, ...LIST_READERS, ...REQUEST_READERS, ...NETWORK_READERS]
