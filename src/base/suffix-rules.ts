import { lazy } from "./lazy.ts"

/** The Public Suffix List. Its 10 000 rules are objects that take 15 ms to make, so it is loaded on the first call and not by a start. */
export const suffixRules = lazy(() => require("tldts") as typeof import("tldts"))
