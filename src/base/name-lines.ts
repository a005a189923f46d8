import { isIP } from "node:net"
import { trimSpace } from "./text.ts"

/** The rule of an ad blocker for a host as a whole, with options that leave it whole: `||name^$third-party`. */
const BLOCKER_RULE =
  /^\|\|([^\s^/$*|,]+)\^?(?:\$(?:all|important|doc|document|third-party|3p|popup)(?:,(?:all|important|doc|document|third-party|3p|popup)){0,5})?$/i
/** A remark of an ad blocker's list, or the line that names its kind. */
const BLOCKER_REMARK = /^(?:!(?:\s|$)|\[(?:adblock|ublock|adguard)[^\]]*\]$)/i
/** Whether a line is the rule of an ad blocker, which may have commas. `@@` makes an exception. */
export const isBlockerRule = (line: string): boolean => line.startsWith("||") || line.startsWith("@@")

/** A remark after a name. */
const REMARK = /(?:^|\s)#.*$/s

/**
 * The names of a line of a list of hosts, domains or addresses, as people and programs write them: one name, also as `.name`, `@name`, `<name>` or
 * `name,`; a line of a hosts file (`0.0.0.0 name name`); or a rule of an ad blocker (`||name^`). None: it is blank or a remark, or names only
 * the machine itself. Null: it is none of these. Whether a name can be one is not looked at.
 */
export function namesOfLine(line: string): readonly string[] | null {
  const text = trimSpace(line)
  if (BLOCKER_REMARK.test(text)) return []
  if (isBlockerRule(text)) {
    const [, name] = BLOCKER_RULE.exec(text) ?? []
    return name === undefined ? null : [name]
  }
  const words = trimSpace(text.replace(REMARK, "")).split(/\s+/)
  const [first = "", ...others] = words
  if (first === "") return []
  // What has no dot is a name of the machine, such as `localhost`.
  if (others.length > 0)
    return isIP(first.replace(/%.*$/, "")) === 0 ? null : others.filter(name => name.includes(".") && !isOwnName(name))
  return [plainName(first)]
}

const isOwnName = (name: string): boolean => isIP(name) !== 0 || /\.local(?:domain)?$/i.test(name)

/** The name without what people write around it. */
function plainName(text: string): string {
  const bare = text.replace(/[,;]{1,8}$/, "")
  const inner = /^<([^<>]*)>$/.exec(bare)?.[1] ?? bare
  return /^[.@](?!\.)/.test(inner) ? inner.slice(1) : inner
}
