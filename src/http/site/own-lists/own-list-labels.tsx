/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import type { OwnListEntryKind } from "../../../customers/own-lists/entries.ts"
import type { OwnList } from "../../../customers/own-lists/own-lists.ts"
import { formatNumber } from "../ui/format.ts"
import { Table } from "../ui/table.tsx"
import type { OwnListScope } from "./own-list-scope.tsx"

/** The name of each list. */
export const LIST_LABELS: { readonly [L in OwnList]: string } = { block: "Block list", allow: "Allow list" }

/** The kinds of entries, each with an example. */
export const ENTRY_KIND_LABELS: {
  readonly [K in OwnListEntryKind]: {
    readonly label: string
    readonly example: string
    readonly description: ComponentChildren
  }
} = {
  address: {
    label: "one address",
    example: "jane@example.com",
    description:
      "This address. Without a +tag, it covers the mailbox with every tag. With a +tag, it covers only that tag. We store a hash of it, its domain and a masked form such as j…e@example.com. We never store the address.",
  },
  domain: {
    label: "with subdomains",
    example: "example.com",
    description: "Every address at example.com, and at every name below it, such as mail.example.com.",
  },
  subdomains: {
    label: "subdomains only",
    example: "*.example.com",
    description: "Every name below example.com, but not example.com itself. *.zip covers a whole top-level domain.",
  },
}

/** Explains the kinds of entries and which list wins. */
export function EntryHelp({ precedence }: Pick<OwnListScope, "precedence">) {
  return (
    <details class="panel">
      <summary>What an entry does</summary>
      <Table caption="What an entry does" columns={["Entry", "Covers"]}>
        {Object.entries(ENTRY_KIND_LABELS).map(([kind, { example, description }]) => (
          <tr key={kind}>
            <th scope="row">
              <code>{example}</code>
            </th>
            <td>{description}</td>
          </tr>
        ))}
      </Table>
      <ul>
        {precedence.map(rule => (
          <li key={rule}>{rule}</li>
        ))}
        <li>
          Both lists together hold up to {formatNumber(LIMITS.ownListEntriesMax)} entries. A change takes effect within
          a minute.
        </li>
      </ul>
    </details>
  )
}
