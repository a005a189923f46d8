import { jsonIn } from "../../base/json.ts"
import type { Entries } from "./entries.ts"

/**
 * Reads the strings that a path leads to in a JSON text. The path's steps are parted by `.`: a member's name; `name?`,
 * a member that may be absent; `*`, every element or member; `@keys`, every member's name; `name=value`, go on only
 * where that member is that string. A value of another shape than the path says is misshapen.
 */
export function readJson(text: string, path: string): Entries {
  const root = jsonIn(text)
  if (root === undefined) return { kind: "refused", says: "not JSON" }
  const entries: string[] = []
  let misshapen = 0
  for (const found of path.split(".").reduce<readonly unknown[]>(follow, [root])) {
    if (typeof found === "string") entries.push(found)
    else misshapen++
  }
  return { kind: "entries", entries, misshapen }
}

/** Stands for a value that is not there; it ends up misshapen. */
const NOTHING = Symbol("nothing")

function follow(values: readonly unknown[], step: string): readonly unknown[] {
  return values.flatMap(value => (typeof value === "object" && value !== null ? stepInto(value, step) : [NOTHING]))
}

function stepInto(value: object, step: string): readonly unknown[] {
  if (step === "*") return Object.values(value)
  if (step === "@keys") return Array.isArray(value) ? [NOTHING] : Object.keys(value)
  const members = new Map<string, unknown>(Object.entries(value))
  const [name = "", wanted] = step.split("=", 2)
  if (wanted !== undefined) return members.get(name) === wanted ? [value] : []
  const mayBeAbsent = name.endsWith("?")
  const member = members.get(mayBeAbsent ? name.slice(0, -1) : name)
  if (member !== undefined) return [member]
  return mayBeAbsent ? [] : [NOTHING]
}
