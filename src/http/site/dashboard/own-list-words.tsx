/** @jsxImportSource preact */
import type { ComponentChildren } from "preact"
import { LIMITS } from "../../../contract/limits.ts"
import type { EntryKind } from "../../../customers/own-lists/own-list-entry.ts"
import type { OwnList } from "../../../customers/own-lists/own-lists.ts"
import { Table } from "../layout.tsx"

/** What each list is called and does. */
export const LIST_WORDS: { readonly [L in OwnList]: { readonly label: string; readonly says: string } } = {
  block: {
    label: "Block list",
    says: "A check of what is on it recommends block, unless your allow list covers it too.",
  },
  allow: {
    label: "Allow list",
    says: "A check of what is on it recommends allow, whatever else is known, unless no such address can exist.",
  },
}

/** What each kind of entry is about, by an example. */
export const ENTRY_KINDS: {
  readonly [K in EntryKind]: { readonly label: string; readonly example: string; readonly means: ComponentChildren }
} = {
  address: {
    label: "one address",
    example: "jane@example.com",
    means:
      "This address, with any +tag. We keep a fingerprint (a hash) of it and its domain, never the address itself.",
  },
  domain: {
    label: "a domain and all below it",
    example: "example.com",
    means: "Every address at example.com, and at every name below it, such as mail.example.com.",
  },
  subdomains: {
    label: "all below a domain",
    example: "*.example.com",
    means: "Every name below example.com, but not example.com itself. A whole top level is *.zip, for example.",
  },
}

/** The number as people write it: `10,000`. */
export const grouped = (count: number): string => count.toLocaleString("en")

/** What an entry does, and which list wins. */
export function EntryHelp() {
  return (
    <section aria-labelledby="what-entries-do">
      <h2 id="what-entries-do">What an entry does</h2>
      <Table caption="What an entry does" columns={["Entry", "Covers"]}>
        {Object.entries(ENTRY_KINDS).map(([kind, { example, means }]) => (
          <tr key={kind}>
            <th scope="row">
              <code>{example}</code>
            </th>
            <td>{means}</td>
          </tr>
        ))}
      </Table>
      <ul>
        <li>Where both of your lists cover an address, the allow list wins.</li>
        <li>Whoever runs this server has a block list too. It beats your allow list.</li>
        <li>
          Both lists together hold up to {grouped(LIMITS.ownListEntriesMax)} entries. A change holds for your next
          check; where several servers answer, within a minute.
        </li>
      </ul>
    </section>
  )
}
