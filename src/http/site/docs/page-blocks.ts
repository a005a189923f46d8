import { assert } from "../../../base/errors.ts"
import { withRunnableCommands } from "./command-lines.ts"
import { CONTRACT_INSERTS } from "./inserts/contract-inserts.ts"
import { EXAMPLE_INSERTS, FOLDED_EXAMPLE_INSERTS } from "./inserts/example-inserts.tsx"
import { FIELD_INSERTS } from "./inserts/field-inserts.ts"
import { FORM_INSERTS, LIVE_FORM_INSERTS } from "./inserts/form-inserts.tsx"
import type { BlockInsert, Insert, PageBlock, PageFacts } from "./inserts/insert.ts"
import { LICENCE_INSERTS, LICENCE_TEXT_INSERTS } from "./inserts/licence-inserts.tsx"
import { LIST_INSERTS, LIVE_LIST_INSERTS } from "./inserts/list-inserts.tsx"
import {
  DEPLOY_INSERTS,
  OPERATION_INSERTS,
  PRICE_INSERTS,
  SETTING_INDEX_INSERTS,
} from "./inserts/operation-inserts.tsx"
import { ADVICE_INSERTS, PROBLEM_INSERTS } from "./inserts/problem-inserts.tsx"
import { VALUE_INSERTS } from "./inserts/value-inserts.ts"

const INSERTS: ReadonlyMap<string, Insert> = new Map(
  Object.entries({
    ...VALUE_INSERTS,
    ...CONTRACT_INSERTS,
    ...ADVICE_INSERTS,
    ...EXAMPLE_INSERTS,
    ...FORM_INSERTS,
    ...FIELD_INSERTS,
    ...OPERATION_INSERTS,
    ...LICENCE_INSERTS,
    ...LIST_INSERTS,
  }),
)
const BLOCK_INSERTS: ReadonlyMap<string, BlockInsert> = new Map(
  Object.entries({
    ...FOLDED_EXAMPLE_INSERTS,
    ...LICENCE_TEXT_INSERTS,
    ...LIVE_LIST_INSERTS,
    ...LIVE_FORM_INSERTS,
    ...PROBLEM_INSERTS,
    ...SETTING_INDEX_INSERTS,
    ...PRICE_INSERTS,
    ...DEPLOY_INSERTS,
  }),
)

/** `{{name}}` or `{{name argument}}`. */
const DIRECTIVE = /\{\{([a-z-]+)(?: ([^{}\n]+))?\}\}/g
const DIRECTIVE_LINE = /^(\{\{[^{}\n]+\}\})$/m

/** The parts of a page's source with every insert in place. What an insert gives is not searched for inserts again. */
export function expandPage(source: string, facts: PageFacts): readonly PageBlock[] {
  // A split at lines that are one directive gives text and directives in turn.
  return source.split(DIRECTIVE_LINE).map((part, index) => {
    const [, name = "", argument = ""] = index % 2 === 1 ? (new RegExp(DIRECTIVE).exec(part) ?? []) : []
    const block = BLOCK_INSERTS.get(name)
    if (block !== undefined) return block(facts, argument)
    return { markdown: withRunnableCommands(expandText(part, facts), facts.command), html: null }
  })
}

/** A page's source without its inserts. */
export const withoutInserts = (source: string): string => source.replaceAll(DIRECTIVE, "")

const expandText = (text: string, facts: PageFacts): string =>
  text.replace(DIRECTIVE, (_, name: string, argument = "") => {
    const insert = INSERTS.get(name)
    assert(insert !== undefined, `there is no insert named ${name}`)
    return insert(facts, argument)
  })
